package dev.ratelimit.startup;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.annotation.interceptor.RateLimitedCheck;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Finds limits that no rule and no {@code @RateLimited} names, and applications without any limit. If a bean of the application has a {@link RateLimiter}, it
 * may ask for any of them, so then there is nothing to find.
 */
public final class UnusedLimits implements ProbableMistakes.Finder {

    private final PolicyConfiguration configuration;
    private final Policies policies;
    private final ObjectProvider<RateLimitedCheck> annotations;
    private final Collection<@Nullable String> ofLogins;
    private final ConfigurableListableBeanFactory beans;
    private final String ours;

    /**
     * @param ofLogins the limits that logins use; {@code null} for none
     * @param wiring the package of the auto-configurations, whose beans are not the application's
     */
    public UnusedLimits(
            PolicyConfiguration configuration,
            Policies policies,
            ObjectProvider<RateLimitedCheck> annotations,
            Collection<@Nullable String> ofLogins,
            ConfigurableListableBeanFactory beans,
            Package wiring) {
        this.configuration = configuration;
        this.policies = policies;
        this.annotations = annotations;
        this.ofLogins = ofLogins;
        this.beans = beans;
        this.ours = wiring.getName() + ".";
    }

    @Override
    public List<String> find() {
        if (isNothingLimited()) {
            return applicationAsks() ? List.of() : List.of("no limit is configured below ratelimit.limits");
        }
        Set<String> unused = new LinkedHashSet<>(configuration.limits().keySet());
        unused.remove(LimitBook.ALL); // the switch of all limits
        Stream.concat(configuration.rules().stream(), policies.current().rules().rules().stream())
                .map(Rule::limits)
                .forEach(unused::removeAll);
        configuration.limits().values().forEach(definition -> unused.remove(definition.getOrDefault("base", "")));
        unused.removeAll(ofLogins);
        annotations.ifAvailable(check -> unused.removeAll(check.limitsInUse()));
        if (unused.isEmpty() || applicationAsks()) {
            return List.of();
        }
        return List.of("no rule and no @RateLimited names the limit" + (unused.size() == 1 ? " " : "s ")
                + String.join(", ", unused));
    }

    private boolean isNothingLimited() {
        RateLimitedCheck check = annotations.getIfAvailable();
        return configuration.limits().isEmpty()
                && policies.current().rules().rules().isEmpty()
                && (check == null || check.limitsInUse().isEmpty());
    }

    private boolean applicationAsks() {
        return Stream.of(beans.getBeanNamesForType(RateLimiter.class, true, false))
                .flatMap(limiter -> Stream.of(beans.getDependentBeans(limiter)))
                .anyMatch(bean -> !isOurs(bean));
    }

    private boolean isOurs(String bean) {
        if (!beans.containsBeanDefinition(bean)) {
            return bean.startsWith(ours);
        }
        BeanDefinition definition = beans.getBeanDefinition(bean);
        return startsWithOurs(definition.getFactoryBeanName()) || startsWithOurs(definition.getBeanClassName());
    }

    private boolean startsWithOurs(@Nullable String name) {
        return name != null && name.startsWith(ours);
    }
}
