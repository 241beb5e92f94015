package dev.ratelimit.test;

import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKeys;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Where nothing is stored, there are nonetheless the tiers and the API key of the test. */
@AutoConfiguration(
        afterName = "dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration",
        beforeName = "dev.ratelimit.autoconfigure.RateLimitWebAutoConfiguration")
@ConditionalOnProperty(TestProperties.IN_A_TEST)
public final class RateLimitTestCallersAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Accounts rateLimitTestAccounts() {
        return Accounts.NONE;
    }

    @Bean
    @ConditionalOnMissingBean
    ApiKeys rateLimitTestApiKeys() {
        return secret -> null;
    }
}
