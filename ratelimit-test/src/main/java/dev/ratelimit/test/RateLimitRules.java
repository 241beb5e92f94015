package dev.ratelimit.test;

import dev.ratelimit.annotation.RateLimitExempt;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.gate.Exemptions;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Conditions;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.Rule;
import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Checks that the rules of an application leave nothing out. */
public final class RateLimitRules {

    /** The methods that a client would use for a handler that takes any. */
    private static final Set<String> USUAL = Set.of("GET", "POST", "PUT", "PATCH", "DELETE");

    private static final String FRAMEWORK = "org.springframework.";

    private final Policies policies;
    private final Exemptions exemptions;

    private RateLimitRules(ApplicationContext context) {
        this.policies = context.getBeanProvider(Policies.class).getIfAvailable(() -> {
            throw new IllegalStateException("The application context has no rate limits; use @SpringBootTest, or"
                    + " add @AutoConfigureRateLimit to a slice such as @WebMvcTest");
        });
        this.exemptions = context.getBeanProvider(Exemptions.class).getIfAvailable(() -> Exemptions.NONE);
    }

    /**
     * Verifies that each endpoint of the application's controllers and router functions is covered: by a rule for its path and
     * method, by {@link RateLimited}, or by an exemption ({@link RateLimitExempt}, {@code ratelimit.exempt.paths}, a bean of type
     * {@code ExemptPaths}, or a rule that allows). A rule in shadow covers nothing. A rule with another condition applies to some
     * callers only, so it covers nothing either. Only rules that together name all tiers do.
     *
     * <p>Annotations are seen on controllers, not on methods that they or router functions call. A router function is not checked,
     * and is named, if its predicate is of another kind than paths and methods that must hold together.
     *
     * @throws AssertionError if one is not; the message names all of them
     */
    public static void verifyEveryEndpointIsLimited(ApplicationContext context) {
        List<String> missing = unlimitedEndpoints(context);
        if (!missing.isEmpty()) {
            throw new AssertionError((missing.size() == 1 ? "1 endpoint is" : missing.size() + " endpoints are")
                    + " not limited:\n  " + String.join("\n  ", missing)
                    + "\nAdd a rule for the path under ratelimit.rules, or @RateLimited to the method."
                    + " If it needs no limit, add @RateLimitExempt, or the path to ratelimit.exempt.paths.");
        }
    }

    /**
     * The endpoints that {@link #verifyEveryEndpointIsLimited} complains of, such as {@code GET /posts: Posts.list()}. A note is added
     * if some rules apply to some callers only, or if a router function cannot be checked.
     */
    public static List<String> unlimitedEndpoints(ApplicationContext context) {
        RateLimitRules rules = new RateLimitRules(context);
        var controllers = context.getBeansOfType(RequestMappingHandlerMapping.class);
        var routers = context.getBeansOfType(RouterFunctionMapping.class);
        if (controllers.isEmpty() && routers.isEmpty()) {
            throw new IllegalStateException(
                    "The application context has no endpoints to verify; use @SpringBootTest without"
                            + " webEnvironment = NONE");
        }
        Stream<String> methods = controllers.values().stream()
                .flatMap(mapping -> mapping.getHandlerMethods().entrySet().stream())
                .filter(entry -> !entry.getValue().getBeanType().getName().startsWith(FRAMEWORK))
                .flatMap(rules::unlimited);
        Stream<String> functions = routers.values().stream()
                .flatMap(mapping -> RouterEndpoints.of(mapping.getRouterFunction()).stream())
                .flatMap(rules::unlimited);
        return Stream.concat(methods, functions).sorted().distinct().toList();
    }

    private Stream<String> unlimited(Map.Entry<RequestMappingInfo, HandlerMethod> endpoint) {
        HandlerMethod handler = endpoint.getValue();
        if (isAnnotated(handler.getMethod()) || isAnnotated(handler.getBeanType())) {
            return Stream.of();
        }
        return endpoint.getKey().getPatternValues().stream()
                .flatMap(path -> unlimited(methods(endpoint.getKey()), path, named(handler)));
    }

    private Stream<String> unlimited(RouterEndpoints.Endpoint endpoint) {
        String path = endpoint.path();
        return path == null
                ? Stream.of("not checked: router function " + endpoint.predicate())
                : unlimited(endpoint.methods().isEmpty() ? USUAL : endpoint.methods(), path, "router function");
    }

    private Stream<String> unlimited(Set<String> all, String path, String handler) {
        Set<String> methods = new TreeSet<>(all);
        methods.removeIf(method -> isCovered(method, path));
        if (methods.isEmpty()) {
            return Stream.of();
        }
        Set<String> partial = new TreeSet<>();
        methods.forEach(method -> rulesFor(method, path).forEach(rule -> partial.add(rule.name())));
        return Stream.of((methods.equals(USUAL) ? "any method" : String.join(", ", methods)) + " " + path + ": "
                + handler + (partial.isEmpty() ? "" : " (for some callers only: " + String.join(", ", partial) + ")"));
    }

    private static boolean isAnnotated(AnnotatedElement element) {
        return AnnotatedElementUtils.hasAnnotation(element, RateLimited.class)
                || AnnotatedElementUtils.hasAnnotation(element, RateLimited.Several.class)
                || AnnotatedElementUtils.hasAnnotation(element, RateLimitExempt.class);
    }

    private static Set<String> methods(RequestMappingInfo mapping) {
        Set<RequestMethod> methods = mapping.getMethodsCondition().getMethods();
        return methods.isEmpty()
                ? USUAL
                : methods.stream().map(RequestMethod::name).collect(Collectors.toSet());
    }

    private boolean isCovered(String method, String path) {
        PathReadings example = PathReadings.of(example(path));
        return exemptions.exempts(example) || areForEverybody(rulesFor(method, path));
    }

    private List<Rule> rulesFor(String method, String path) {
        return policies.current().rules().rulesFor(method, PathReadings.of(example(path))).stream()
                .filter(rule -> rule.action() != Action.SHADOW)
                .toList();
    }

    /** Whether each caller meets one of them. */
    private boolean areForEverybody(List<Rule> rules) {
        Set<String> tiers = new HashSet<>();
        for (Rule rule : rules) {
            Conditions conditions = rule.conditions();
            boolean ofTiersAlone = conditions.addresses().isEmpty()
                    && conditions.authorities().isEmpty()
                    && conditions.apiKeys().isEmpty()
                    && conditions.expression() == null;
            if (ofTiersAlone && conditions.tiers().isEmpty()) {
                return true;
            }
            if (ofTiersAlone) {
                tiers.addAll(conditions.tiers());
            }
        }
        return tiers.containsAll(policies.current().tierNames());
    }

    /** A path that the pattern matches: variables and wildcards become a text that no rule is likely to name. */
    private static String example(String pattern) {
        String path = pattern.replaceAll("\\{\\*[^}]*}", "any/other")
                .replaceAll("\\{[^/]*}", "any")
                .replace("**", "any/other")
                .replaceAll("[*?]", "a");
        return path.startsWith("/") ? path : "/" + path;
    }

    private static String named(HandlerMethod handler) {
        return ClassUtils.getUserClass(handler.getBeanType()).getSimpleName() + "."
                + handler.getMethod().getName()
                + Arrays.stream(handler.getMethod().getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
