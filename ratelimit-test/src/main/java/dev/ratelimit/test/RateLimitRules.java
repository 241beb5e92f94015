package dev.ratelimit.test;

import dev.ratelimit.annotation.RateLimitExempt;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.gate.Exemptions;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Policies;
import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.Arrays;
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
     * Verifies that each endpoint of the application's controllers is covered: by a rule for its path and method, by
     * {@link RateLimited}, or by an exemption ({@link RateLimitExempt}, {@code ratelimit.exempt.paths}, a bean of type
     * {@code ExemptPaths}, or a rule that allows). Other conditions of a rule, such as tiers, are not looked at. A rule in shadow
     * covers nothing.
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

    /** The endpoints that {@link #verifyEveryEndpointIsLimited} complains of, such as {@code GET /posts: Posts.list()}. */
    public static List<String> unlimitedEndpoints(ApplicationContext context) {
        RateLimitRules rules = new RateLimitRules(context);
        return context.getBeansOfType(RequestMappingHandlerMapping.class).values().stream()
                .flatMap(mapping -> mapping.getHandlerMethods().entrySet().stream())
                .filter(entry -> !entry.getValue().getBeanType().getName().startsWith(FRAMEWORK))
                .flatMap(rules::unlimited)
                .sorted()
                .distinct()
                .toList();
    }

    private Stream<String> unlimited(Map.Entry<RequestMappingInfo, HandlerMethod> endpoint) {
        HandlerMethod handler = endpoint.getValue();
        if (isAnnotated(handler.getMethod()) || isAnnotated(handler.getBeanType())) {
            return Stream.of();
        }
        List<String> unlimited = new ArrayList<>();
        for (String path : endpoint.getKey().getPatternValues()) {
            Set<String> methods = new TreeSet<>(methods(endpoint.getKey()));
            int all = methods.size();
            methods.removeIf(method -> isCovered(method, path));
            if (!methods.isEmpty()) {
                boolean any = methods.size() == all && methods.equals(USUAL);
                unlimited.add((any ? "any method" : String.join(", ", methods)) + " " + path + ": " + named(handler));
            }
        }
        return unlimited.stream();
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
        return exemptions.exempts(example)
                || policies.current().rules().rulesFor(method, example).stream()
                        .anyMatch(rule -> rule.action() != Action.SHADOW);
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
