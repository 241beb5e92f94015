package dev.ratelimit.test;

import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.Policy;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.util.ClassUtils;

/** Prepares the caller of a test by its annotations: those of the method, else those of the class. */
final class TestCaller {

    private final ApplicationContext context;
    private final User user;

    /**
     * @param user the user that is logged in for the test
     */
    TestCaller(ApplicationContext context, User user) {
        this.context = context;
        this.user = user;
    }

    void prepare(Method method, Class<?> type) {
        WithApiKey apiKey = find(WithApiKey.class, method, type);
        WithTier tier = find(WithTier.class, method, type);
        Set<WithRateLimit> limits = AnnotatedElementUtils.findMergedRepeatableAnnotations(method, WithRateLimit.class);
        if (limits.isEmpty()) {
            limits = TestContextAnnotationUtils.getMergedRepeatableAnnotations(type, WithRateLimit.class);
        }
        if (apiKey == null && tier == null && limits.isEmpty()) {
            return;
        }
        requireLimiter(
                apiKey != null
                        ? apiKey
                        : tier != null ? tier : limits.iterator().next());
        if (apiKey != null) {
            prepare(apiKey);
        }
        if (tier != null) {
            prepare(tier);
        }
        for (WithRateLimit limit : limits) {
            User counted = limit.user().isEmpty() ? user : new User(limit.user(), Set.of());
            new LeftOver(context, limit, caller(counted)).leave();
        }
    }

    private static <A extends Annotation> @Nullable A find(Class<A> annotation, Method method, Class<?> type) {
        A ofMethod = AnnotatedElementUtils.findMergedAnnotation(method, annotation);
        return ofMethod != null ? ofMethod : TestContextAnnotationUtils.findMergedAnnotation(type, annotation);
    }

    private void requireLimiter(Annotation annotation) {
        String name = "@" + annotation.annotationType().getSimpleName();
        if (!context.getEnvironment().getProperty("ratelimit.enabled", Boolean.class, true)) {
            throw new IllegalStateException(name + " has no effect: limits are switched off in this test"
                    + " (ratelimit.enabled=false); remove one of the two");
        }
        if (context.getBeanProvider(TestState.class).getIfAvailable() == null) {
            throw new IllegalStateException(name + " has no effect: the application context of this test has no limits;"
                    + " add @AutoConfigureRateLimit to a slice such as @WebMvcTest, or use @SpringBootTest");
        }
    }

    private void prepare(WithApiKey annotation) {
        if (!context.getEnvironment().getProperty("ratelimit.api-keys.enabled", Boolean.class, false)) {
            throw new IllegalStateException("@WithApiKey has no effect: API keys are not checked; set"
                    + " ratelimit.api-keys.enabled=true in the properties of the application or of the test");
        }
        if (!context.containsBean(RateLimitTestAutoConfiguration.WebConfiguration.API_KEY_FILTER)) {
            throw new IllegalStateException(
                    "@WithApiKey has no effect: this test has no web application that gets requests;"
                            + " use @SpringBootTest without webEnvironment = NONE");
        }
        String tier = annotation.tier().isEmpty() ? null : annotation.tier();
        if (tier != null) {
            requireTier("@WithApiKey(tier = \"" + tier + "\")", tier);
        }
        context.getBean(TestApiKey.class)
                .set(new ApiKey("test", annotation.name(), annotation.owner(), tier, Quota.NONE));
    }

    private void prepare(WithTier annotation) {
        String written = "@WithTier(\"" + annotation.value() + "\")";
        requireTier(written, annotation.value());
        String name = annotation.user().isEmpty() ? user.name() : annotation.user();
        if (name == null) {
            throw new IllegalStateException(written + " needs a user: add @WithMockUser, or write @WithTier(value = \""
                    + annotation.value() + "\", user = \"alice\"). Callers without a user have the tier of"
                    + " ratelimit.tiers.default; set that in the properties of the test for them");
        }
        context.getBean(TestTiers.class).set(name, annotation.value());
    }

    private void requireTier(String written, String tier) {
        Policies policies = context.getBeanProvider(Policies.class).getIfAvailable();
        Set<String> known = policies == null ? Set.of() : policies.current().tierNames();
        if (!known.contains(tier)) {
            throw new IllegalStateException(written + ": no limit, rule or quota has the tier '" + tier
                    + "'; write one of " + String.join(", ", known));
        }
    }

    private @Nullable Caller caller(User counted) {
        Policies policies = context.getBeanProvider(Policies.class).getIfAvailable();
        if (policies == null) {
            return null;
        }
        Policy policy = policies.current();
        Accounts accounts = context.getBeanProvider(Accounts.class).getIfAvailable(() -> Accounts.NONE);
        return policy.tiers()
                .caller(
                        counted.name(),
                        counted.authorities(),
                        context.getBean(TestApiKey.class).current(),
                        accounts);
    }

    /**
     * The user of a test, as Spring Security's annotations log one in.
     *
     * @param name {@code null} for nobody
     */
    record User(@Nullable String name, Set<String> authorities) {

        private static final boolean HAS_SECURITY =
                ClassUtils.isPresent("org.springframework.security.core.context.SecurityContextHolder", null);

        private static final User NOBODY = new User(null, Set.of());

        /** The user that is logged in now, on this thread. */
        static User current() {
            return HAS_SECURITY ? Security.user() : NOBODY;
        }

        /** This user; if it is nobody, the other one. */
        User or(@Nullable User other) {
            return name == null && other != null ? other : this;
        }

        /** Only loaded where Spring Security is there. */
        private static final class Security {

            static User user() {
                Authentication user = SecurityContextHolder.getContext().getAuthentication();
                return user == null || user instanceof AnonymousAuthenticationToken || !user.isAuthenticated()
                        ? NOBODY
                        : new User(
                                user.getName(),
                                user.getAuthorities().stream()
                                        .map(GrantedAuthority::getAuthority)
                                        .collect(Collectors.toSet()));
            }
        }
    }
}
