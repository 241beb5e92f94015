package dev.ratelimit.autoconfigure;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.PolicyStorage;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.annotation.interceptor.RateLimitedCheck;
import dev.ratelimit.autoconfigure.property.ConfiguredPolicy;
import dev.ratelimit.autoconfigure.property.NamesInBrackets;
import dev.ratelimit.autoconfigure.property.NamesInLists;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.autoconfigure.property.RulesInSeveralFiles;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.data.ChangeListener;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.database.DatabaseChoice;
import dev.ratelimit.database.PolicyConnections;
import dev.ratelimit.database.StateDatabase;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.startup.MvcPaths;
import dev.ratelimit.startup.ProbableMistakes;
import dev.ratelimit.startup.UnusedLimits;
import dev.ratelimit.store.LimitStore;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.util.pattern.PathPatternParser;

/** The limits and rules in force: those of the configuration, and over them those of the database. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class, before = RateLimitWebAutoConfiguration.class)
@ConditionalOnClass(PathPatternParser.class)
public final class RateLimitPolicyAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitPolicyAutoConfiguration.class);

    private static final String NOT_STORED =
            "limits and rules are not kept in a database; set ratelimit.policy.store to sqlite or postgresql, which needs"
                    + " spring-jdbc";

    private static final String CHANGES_DISABLED =
            "limits and rules are not read from a database; set ratelimit.changes.enabled to true, and"
                    + " ratelimit.policy.store to sqlite or postgresql if counts are in neither";

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(NamedParameterJdbcTemplate.class)
    @ConditionalOnProperty(
            name = {"ratelimit.enabled", "ratelimit.changes.enabled"},
            matchIfMissing = true)
    @Conditional(OnDatabase.class)
    static class StoredConfiguration {

        /** None if there is no database for limits and rules: they come from the configuration alone. */
        @Bean
        @DependsOnDatabaseInitialization
        @Nullable
        PolicyConnections rateLimitPolicyConnections(
                DatabaseChoice choice, LimitStore migrated, RateLimitProperties properties, BeanFactory beans) {
            StateDatabase counts = beans.containsBean(OnDatabase.OUR_STORE) ? choice.state() : null;
            StateDatabase policies = choice.policies(counts);
            if (policies == null) {
                log.info(
                        "Taking limits and rules from the configuration alone, without API keys and audit trail, since {} keeps"
                                + " counts only; to change limits at run time, set ratelimit.store.postgresql.url, or"
                                + " ratelimit.policy.store: sqlite",
                        counts);
                return null;
            }
            if (counts == null || policies != counts.main()) {
                log.info("Keeping limits and rules that are changed at run time in {}", policies);
            }
            return new PolicyConnections(
                    policies,
                    counts,
                    AwaitedLimitStore.isAvailable(migrated),
                    properties.store().required());
        }

        @Bean
        @ConditionalOnMissingBean(Policies.class)
        PolicyStorage rateLimitPolicies(
                ObjectProvider<PolicyConnections> databases,
                PolicyConfiguration configuration,
                RateLimitProperties properties,
                ObjectProvider<StoreRateLimiter> limiter,
                ObjectProvider<ChangeListener> listeners,
                @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
            InstantSource clock = clocks.getIfAvailable(InstantSource::system);
            PolicyConnections connections = databases.getIfAvailable();
            if (connections == null) {
                return notStored(configuration, properties, clock);
            }
            RateLimitProperties.Changes changes = properties.changes();
            // Only the options have this prefix. Mistakes in limits and rules also surface here, and name their own.
            StoredPolicies.Options options = InvalidPropertyException.under(
                    "ratelimit.changes.",
                    () -> new StoredPolicies.Options(
                            changes.pollInterval(),
                            changes.listen() && connections.canListen(),
                            Stream.concat(Stream.of(forgetting(limiter)), listeners.orderedStream())
                                    .toList(),
                            clock));
            return connections.isAvailable()
                    ? new StoredPolicies(connections.database(), connections.counting(), configuration, options)
                    : StoredPolicies.readLater(connections.database(), connections.counting(), configuration, options);
        }

        /** Discards cached decisions of this process when limits are changed or reset. */
        private static ChangeListener forgetting(ObjectProvider<StoreRateLimiter> limiters) {
            return new ChangeListener() {
                @Override
                public void subjectReset(@Nullable String subject) {
                    limiters.ifAvailable(limiter -> {
                        if (subject == null) {
                            limiter.forgetLocally();
                        } else {
                            limiter.forgetLocally(Subject.ofText(subject));
                        }
                    });
                }

                @Override
                public void policyChanged() {
                    limiters.ifAvailable(StoreRateLimiter::forgetDenials);
                }
            };
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(PolicyStorage.class)
        Accounts rateLimitAccounts(PolicyStorage policies) {
            return policies.accounts();
        }

        /** Asks for the policies with the first request: the limiter needs its listeners before. */
        @Bean
        @ConditionalOnMissingBean(name = "rateLimitRequestsOfUsers")
        DecisionListener rateLimitRequestsOfUsers(ObjectProvider<PolicyStorage> policies) {
            Supplier<DecisionListener> listener = SingletonSupplier.of(() -> {
                return policies.getIfAvailable() instanceof StoredPolicies stored
                        ? stored.requestsOfUsers()
                        : request -> {};
            });
            return request -> listener.get().recorded(request);
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(PolicyStorage.class)
        @Nullable
        ApiKeys rateLimitApiKeys(PolicyStorage policies) {
            return policies instanceof StoredPolicies stored ? stored.apiKeys() : null;
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(PolicyStorage.class)
        RateLimitAdmin rateLimitAdmin(
                PolicyStorage policies,
                RateLimiter limiter,
                ObjectProvider<Gate> gates,
                ObjectProvider<RateLimitedCheck> annotations,
                RateLimitProperties properties) {
            return admin(policies, limiter, gates, limit -> usersOf(limit, annotations, properties.login()));
        }

        private static List<String> usersOf(
                String limit, ObjectProvider<RateLimitedCheck> annotations, RateLimitProperties.Login login) {
            List<String> users = new ArrayList<>();
            annotations.ifAvailable(check -> {
                if (check.limitsInUse().contains(limit)) {
                    users.add("@RateLimited");
                }
            });
            if (ofLogins(login).contains(limit)) {
                users.add("ratelimit.login");
            }
            return users;
        }
    }

    /** Beans that applications inject are there even if everything is off; no database is needed. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "ratelimit.enabled", havingValue = "false")
    static class OffConfiguration {

        @Bean
        @ConditionalOnMissingBean
        RateLimitAdmin rateLimitAdminWhileOff(PolicyConfiguration configuration, RateLimiter limiter) {
            return new RateLimitAdmin(PolicyStorage.off(configuration), limiter);
        }

        @Bean
        @ConditionalOnMissingBean
        ApiKeys rateLimitApiKeysWhileOff() {
            return secret -> null;
        }
    }

    @Bean
    @ConditionalOnMissingBean
    PolicyConfiguration rateLimitPolicyConfiguration(
            RateLimitProperties properties, BeanFactory beans, Environment environment) {
        NamesInBrackets.require(environment);
        NamesInLists.require(environment);
        return ConfiguredPolicy.of(properties, MvcPaths.parser(beans));
    }

    /** The configured policy, where nothing can be stored. */
    @Bean
    @ConditionalOnMissingBean
    Policies rateLimitConfiguredPolicies(PolicyConfiguration configuration) {
        Policy policy = configuration.policy();
        return () -> policy;
    }

    /** Where nothing can be stored, limits and requests can still be looked at, and counts can be reset. */
    @Bean
    @ConditionalOnMissingBean
    RateLimitAdmin rateLimitAdminOfConfiguration(
            PolicyConfiguration configuration,
            RateLimitProperties properties,
            RateLimiter limiter,
            ObjectProvider<Gate> gates,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        return admin(
                notStored(configuration, properties, clocks.getIfAvailable(InstantSource::system)),
                limiter,
                gates,
                limit -> List.of());
    }

    private static PolicyStorage notStored(
            PolicyConfiguration configuration, RateLimitProperties properties, InstantSource clock) {
        return PolicyStorage.configured(
                configuration, clock, properties.changes().enabled() ? NOT_STORED : CHANGES_DISABLED);
    }

    private static RateLimitAdmin admin(
            PolicyStorage storage,
            RateLimiter limiter,
            ObjectProvider<Gate> gates,
            Function<String, List<String>> users) {
        Gate gate = gates.getIfAvailable();
        return gate == null ? new RateLimitAdmin(storage, limiter) : new RateLimitAdmin(storage, limiter, gate, users);
    }

    private static List<@Nullable String> ofLogins(RateLimitProperties.Login login) {
        return Arrays.asList(login.limit(), login.addressLimit(), login.nameLimit());
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitRulesInSeveralFiles")
    ProbableMistakes.Finder rateLimitRulesInSeveralFiles(Environment environment) {
        return new RulesInSeveralFiles(environment);
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitUnusedLimits")
    ProbableMistakes.Finder rateLimitUnusedLimits(
            PolicyConfiguration configuration,
            Policies policies,
            ObjectProvider<RateLimitedCheck> annotations,
            RateLimitProperties properties,
            ConfigurableListableBeanFactory beans) {
        return new UnusedLimits(
                configuration,
                policies,
                annotations,
                ofLogins(properties.login()),
                beans,
                RateLimitPolicyAutoConfiguration.class.getPackage());
    }
}
