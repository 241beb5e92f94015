package dev.ratelimit.autoconfigure;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.annotation.RateLimitedCheck;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.startup.ProbableMistakes;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

/**
 * Finds limits that no rule and no {@code @RateLimited} names. If a bean of the application has a {@link RateLimiter}, it
 * may ask for any of them, so then there is nothing to find.
 */
final class UnusedLimits implements ProbableMistakes.Finder {

    private static final String OURS = UnusedLimits.class.getPackageName() + ".";

    /** The properties of logins that name a limit. */
    private static final List<String> OF_LOGINS = List.of("limit", "address-limit", "name-limit");

    private final PolicyConfiguration configuration;
    private final Policies policies;
    private final ObjectProvider<RateLimitedCheck> annotations;
    private final Environment environment;
    private final ConfigurableListableBeanFactory beans;

    UnusedLimits(
            PolicyConfiguration configuration,
            Policies policies,
            ObjectProvider<RateLimitedCheck> annotations,
            Environment environment,
            ConfigurableListableBeanFactory beans) {
        this.configuration = configuration;
        this.policies = policies;
        this.annotations = annotations;
        this.environment = environment;
        this.beans = beans;
    }

    @Override
    public List<String> find() {
        Set<String> unused = new LinkedHashSet<>(configuration.limits().keySet());
        Stream.concat(configuration.rules().stream(), policies.current().rules().rules().stream())
                .map(Rule::limits)
                .forEach(unused::removeAll);
        configuration.limits().values().forEach(definition -> unused.remove(definition.getOrDefault("base", "")));
        OF_LOGINS.forEach(property -> unused.remove(environment.getProperty("ratelimit.login." + property, "")));
        annotations.ifAvailable(check -> unused.removeAll(check.limitsInUse()));
        if (unused.isEmpty() || applicationAsks()) {
            return List.of();
        }
        return List.of("no rule and no @RateLimited names the limit" + (unused.size() == 1 ? " " : "s ")
                + String.join(", ", unused));
    }

    private boolean applicationAsks() {
        return Stream.of(beans.getBeanNamesForType(RateLimiter.class, true, false))
                .flatMap(limiter -> Stream.of(beans.getDependentBeans(limiter)))
                .anyMatch(bean -> !isOurs(bean));
    }

    private boolean isOurs(String bean) {
        if (!beans.containsBeanDefinition(bean)) {
            return bean.startsWith(OURS);
        }
        BeanDefinition definition = beans.getBeanDefinition(bean);
        return startsWithOurs(definition.getFactoryBeanName()) || startsWithOurs(definition.getBeanClassName());
    }

    private static boolean startsWithOurs(@Nullable String name) {
        return name != null && name.startsWith(OURS);
    }
}
