package dev.ratelimit.test;

import dev.ratelimit.admin.PolicyStorage;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.web.LearnedFromRequests;
import jakarta.servlet.Filter;
import java.nio.file.Path;
import java.time.InstantSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/** The beans that tests inject, and a store that can be emptied. */
@AutoConfiguration(beforeName = "dev.ratelimit.autoconfigure.RateLimitAutoConfiguration")
@ConditionalOnProperty(TestProperties.IN_A_TEST)
public final class RateLimitTestAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitClock")
    RateLimitClock rateLimitClock() {
        return new RateLimitClock();
    }

    @Bean
    RateLimitFaults rateLimitFaults(ObjectProvider<StoreRateLimiter> limiter) {
        return new RateLimitFaults(() -> limiter.ifAvailable(StoreRateLimiter::forgetEverything));
    }

    @Bean
    TestApiKey rateLimitTestApiKey() {
        return new TestApiKey();
    }

    @Bean
    TestTiers rateLimitTestTiers() {
        return new TestTiers();
    }

    /** Puts the faults, tiers and the API key of the test into the beans that they concern. */
    @Bean
    static BeanPostProcessor rateLimitTestBeans(
            ObjectProvider<RateLimitFaults> faults, ObjectProvider<TestTiers> tiers, ObjectProvider<TestApiKey> key) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                if (bean instanceof LimitStore store) {
                    return new FaultyStore(store, faults.getObject());
                }
                if (bean instanceof Accounts accounts) {
                    return tiers.getObject().over(accounts);
                }
                return bean instanceof ApiKeys keys ? key.getObject().beside(keys) : bean;
            }
        };
    }

    @Bean
    TestState rateLimitTestState(
            ObjectProvider<RateLimitClock> clock,
            RateLimitFaults faults,
            TestTiers tiers,
            TestApiKey key,
            ObjectProvider<StoreRateLimiter> limiter,
            ObjectProvider<StoreInMemory> store,
            ObjectProvider<TestPolicies> policies,
            ObjectProvider<PolicyStorage> storage,
            ObjectProvider<LearnedFromRequests> learned) {
        return new TestState(() -> {
            clock.ifAvailable(RateLimitClock::reset);
            faults.startTest();
            tiers.clear();
            key.set(null);
            policies.ifAvailable(stored -> storage.ifAvailable(stored::reset));
            limiter.ifAvailable(StoreRateLimiter::forgetEverything);
            learned.forEach(LearnedFromRequests::forget);
            store.ifAvailable(memory -> memory.store().empty());
        });
    }

    /** A bean that is no store itself: the application has one of those only. */
    record StoreInMemory(EmptiableStore store) {}

    @Configuration(proxyBeanMethods = false)
    @Conditional(TestProperties.StoreIsReplaced.class)
    @ConditionalOnMissingBean(LimitStore.class)
    static class StoreConfiguration {

        @Bean
        StoreInMemory rateLimitStoreInMemory(@Qualifier("rateLimitClock") InstantSource clock) {
            return new StoreInMemory(new EmptiableStore(clock));
        }

        @Bean
        LimitStore rateLimitStore(StoreInMemory memory) {
            return memory.store();
        }

        @Bean
        @Conditional(TestProperties.PoliciesAreStored.class)
        TestPolicies rateLimitTestPolicies(Environment environment) {
            return new TestPolicies(Path.of(TestProperties.file(environment)));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass({Filter.class, FilterRegistrationBean.class})
    static class WebConfiguration {

        static final String API_KEY_FILTER = "rateLimitTestApiKeyFilter";

        /** Before all others: none of them may tell that the client has not sent it. */
        @Bean(API_KEY_FILTER)
        FilterRegistrationBean<TestApiKeyFilter> rateLimitTestApiKeyFilter(
                TestApiKey key, @Value("${ratelimit.api-keys.header:X-API-Key}") String header) {
            FilterRegistrationBean<TestApiKeyFilter> registration =
                    new FilterRegistrationBean<>(new TestApiKeyFilter(key, header));
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            registration.setName("rateLimitTestApiKey");
            return registration;
        }
    }
}
