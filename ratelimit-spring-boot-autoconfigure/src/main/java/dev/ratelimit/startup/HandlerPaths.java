package dev.ratelimit.startup;

import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.servlet.resource.ResourceHttpRequestHandler;

/**
 * The paths that the application serves, as far as they can be known: those of Spring MVC, of other servlets and filters,
 * and of static resources. If anything else may serve requests, it may serve every path.
 */
public final class HandlerPaths {

    private static final String EVERY_PATH = "/**";
    private static final String JERSEY_AS_FILTER = "jerseyFilterRegistration";

    /** Filters of Spring Security serve paths below these, and single ones that the application may choose. */
    private static final List<String> OF_SECURITY = List.of(
            "/login/**",
            "/logout/**",
            "/oauth2/**",
            "/saml2/**",
            "/ott/**",
            "/webauthn/**",
            "/connect/**",
            "/userinfo/**",
            "/.well-known/**");

    private final WebApplicationContext context;
    private final boolean caseSensitive;

    public HandlerPaths(WebApplicationContext context) {
        this.context = context;
        this.caseSensitive = MvcPaths.parser(context).isCaseSensitive();
    }

    /** Whether a request whose path matches the pattern may be served; {@code false} only if it is certain. */
    public boolean mayServe(String pattern) {
        return segments(pattern).isEmpty()
                || overlapsAny(pattern, List.of(actuator()))
                || mayServeBesideMvc(pattern)
                || mayServeInMvc(pattern);
    }

    /** The path that Spring MVC serves paths below, if it is missing in the pattern; {@code null} if not. */
    public @Nullable String missingServletPath(String pattern) {
        return overlaps(pattern, servletPath() + EVERY_PATH) ? null : servletPath();
    }

    /** Whether the pattern begins with the context path, which is no part of the paths that rules match. */
    public boolean isBelowContextPath(String pattern) {
        String contextPath = context.getServletContext() == null
                ? ""
                : context.getServletContext().getContextPath();
        return !contextPath.isEmpty() && pattern.startsWith(contextPath + "/");
    }

    private String servletPath() {
        return context.getEnvironment()
                .getProperty("spring.mvc.servlet.path", "")
                .replaceAll("/$", "");
    }

    private String actuator() {
        return servletPath()
                + context.getEnvironment().getProperty("management.endpoints.web.base-path", "/actuator")
                + EVERY_PATH;
    }

    private boolean mayServeBesideMvc(String pattern) {
        List<String> served = new ArrayList<>();
        if (context.containsBean(SecurityFilters.BEAN)) {
            List<String> ofFilters = new SecurityFilters(context).paths();
            if (ofFilters == null && segments(pattern).stream().noneMatch(HandlerPaths::isPattern)) {
                return true; // such as the path of a login form
            }
            served.addAll(ofFilters == null ? List.of() : ofFilters);
            served.addAll(OF_SECURITY);
        }
        addServletsAndFilters(served);
        return overlapsAny(pattern, served) || context.containsBean(JERSEY_AS_FILTER);
    }

    private boolean mayServeInMvc(String pattern) {
        String servlet = servletPath();
        if (!pattern.startsWith(servlet + "/")) {
            return missingServletPath(pattern) == null;
        }
        String inMvc = pattern.substring(servlet.length());
        List<HandlerMapping> mappings =
                context.getBeanProvider(HandlerMapping.class).stream().toList();
        return mappings.isEmpty() || mappings.stream().anyMatch(mapping -> mayServe(inMvc, mapping));
    }

    private void addServletsAndFilters(List<String> served) {
        ServletContext servlets = context.getServletContext();
        if (servlets == null) {
            return;
        }
        for (ServletRegistration servlet : servlets.getServletRegistrations().values()) {
            if (!servlet.getName().equals("dispatcherServlet")
                    && !servlet.getName().equals("jsp")) {
                servlet.getMappings().forEach(mapping -> served.add(asPattern(mapping)));
            }
        }
        for (FilterRegistration filter : servlets.getFilterRegistrations().values()) {
            filter.getUrlPatternMappings().stream()
                    .filter(mapping -> !mapping.equals("/*")) // those add something to requests of others
                    .forEach(mapping -> served.add(asPattern(mapping)));
        }
    }

    private static String asPattern(String mapping) {
        if (mapping.equals("/") || mapping.startsWith("*")) {
            return EVERY_PATH;
        }
        return mapping.endsWith("/*") ? mapping + "*" : mapping;
    }

    private boolean mayServe(String pattern, HandlerMapping mapping) {
        if (mapping instanceof RequestMappingInfoHandlerMapping methods) {
            return methods.getHandlerMethods().keySet().stream()
                    .anyMatch(info -> overlapsAny(pattern, info.getPatternValues()));
        }
        if (mapping instanceof AbstractUrlHandlerMapping urls) {
            return urls.getHandlerMap().entrySet().stream()
                    .anyMatch(entry -> mayServe(pattern, entry.getKey(), entry.getValue()));
        }
        return !(mapping instanceof RouterFunctionMapping functions) || functions.getRouterFunction() != null;
    }

    /** Static resources are mapped to every path, and are there for a few. */
    private boolean mayServe(String pattern, String mapped, Object handler) {
        return (handler instanceof ResourceHttpRequestHandler resources && mapped.equals(EVERY_PATH))
                ? exists(pattern, resources)
                : overlaps(pattern, mapped);
    }

    /** Whether there is a static file, or a folder of them, where all paths of the pattern begin. */
    private static boolean exists(String pattern, ResourceHttpRequestHandler resources) {
        List<String> segments = segments(pattern);
        List<String> literal =
                segments.stream().takeWhile(segment -> !isPattern(segment)).toList();
        if (literal.isEmpty()) {
            return true;
        }
        String path = String.join("/", literal) + (literal.size() == segments.size() ? "" : "/");
        for (Resource location : resources.getLocations()) {
            try {
                if (location.createRelative(path).exists()) {
                    return true;
                }
            } catch (IOException e) {
                return true;
            }
        }
        return false;
    }

    private boolean overlapsAny(String pattern, Collection<String> served) {
        return served.stream().anyMatch(other -> overlaps(pattern, other));
    }

    /** Whether a path may match both patterns. A segment that is not plain text is taken to match any other. */
    private boolean overlaps(String one, String other) {
        List<String> left = segments(one);
        List<String> right = segments(other);
        for (int i = 0; i < Math.max(left.size(), right.size()); i++) {
            String a = i < left.size() ? left.get(i) : null;
            String b = i < right.size() ? right.get(i) : null;
            if (isRest(a) || isRest(b)) {
                return true;
            }
            if (a == null || b == null || (!isPattern(a) && !isPattern(b) && !isSame(a, b))) {
                return false;
            }
        }
        return true;
    }

    private boolean isSame(String segment, String other) {
        return caseSensitive
                ? segment.equals(other)
                : segment.toLowerCase(Locale.ROOT).equals(other.toLowerCase(Locale.ROOT));
    }

    private static boolean isRest(@Nullable String segment) {
        return segment != null && (segment.equals("**") || segment.startsWith("{*"));
    }

    private static boolean isPattern(String segment) {
        return segment.contains("*") || segment.contains("?") || segment.contains("{");
    }

    /** Without empty ones: a slash at the end makes no difference. */
    private static List<String> segments(String path) {
        return List.of(path.split("/")).stream()
                .filter(segment -> !segment.isEmpty())
                .toList();
    }
}
