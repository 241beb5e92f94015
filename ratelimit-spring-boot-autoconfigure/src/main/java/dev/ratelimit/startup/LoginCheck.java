package dev.ratelimit.startup;

import dev.ratelimit.Limits;
import dev.ratelimit.login.check.LoginNumbers;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.setting.InvalidPropertyException;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Finds mistakes in {@code ratelimit.login}: without effect, nobody would notice that passwords can be guessed.
 *
 * @param limit the name of the limit by address and name together
 * @param addressLimit the name of the limit by address alone
 * @param nameLimit the name of the limit by name alone
 */
public record LoginCheck(
        @Nullable String limit,
        @Nullable String addressLimit,
        @Nullable String nameLimit,
        Limits limits,
        BeanFactory beans)
        implements SmartInitializingSingleton {

    /** The name of the bean that limits logins. */
    public static final String LIMITS = "rateLimitLoginLimits";

    private static final Logger log = LoggerFactory.getLogger(LoginCheck.class);

    private static final String PROPERTY = "ratelimit.login.";

    @Override
    public void afterSingletonsInstantiated() {
        if (limit == null) {
            requireNone("address-limit", addressLimit);
            requireNone("name-limit", nameLimit);
            return;
        }
        if (!beans.containsBean(LIMITS)) {
            throw new InvalidPropertyException(
                    PROPERTY + "limit",
                    limit,
                    "add spring-boot-starter-security to an application with Spring MVC, or leave it out: without Spring"
                            + " Security there are no logins to limit");
        }
        requireLimit("limit", limit);
        requireLimit("address-limit", addressLimit);
        requireLimit("name-limit", LoginNumbers.NONE.equals(nameLimit) ? null : nameLimit);
    }

    private static void requireNone(String property, @Nullable String value) {
        if (value != null) {
            throw new InvalidPropertyException(
                    PROPERTY + property, value, "set ratelimit.login.limit, too: without it no logins are limited");
        }
    }

    private void requireLimit(String property, @Nullable String name) {
        if (name == null || limits.find(name) != null) {
            return;
        }
        Policies policies = beans.getBeanProvider(Policies.class).getIfAvailable();
        if (policies != null && !policies.isComplete()) {
            log.info(
                    "Expecting the limit '{}' of {}{} among the stored limits, which cannot be read yet",
                    name,
                    PROPERTY,
                    property);
        } else {
            throw new InvalidPropertyException(
                    PROPERTY + property,
                    name,
                    limits.names().isEmpty()
                            ? "define a limit of that name in ratelimit.limits"
                            : "name one of " + String.join(", ", new TreeSet<>(limits.names())));
        }
    }
}
