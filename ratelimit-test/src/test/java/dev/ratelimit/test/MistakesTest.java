package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** Annotations that have no effect fail their test, and say what to write instead. */
class MistakesTest {

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.MOCK)
    static class Cases {

        @Test
        @WithRateLimit(limit = "logn")
        void unknownLimit() {}

        @Test
        @WithRateLimit(limit = "login", remaining = 9)
        void moreThanTheLimitAllows() {}

        @Test
        @WithRateLimit(limit = "login", remaining = -1)
        void lessThanNothing() {}

        @Test
        @WithRateLimit(limit = "login", address = "localhost")
        void notAnAddress() {}

        @Test
        @WithRateLimit(limit = "login", subject = "alice@example.com")
        void notASubject() {}

        @Test
        @WithMockUser
        @WithTier("gold")
        void unknownTier() {}

        @Test
        @WithTier("premium")
        void tierOfNobody() {}

        @Test
        @WithApiKey(tier = "gold")
        void apiKeyOfUnknownTier() {}
    }

    @SpringBootTest(
            classes = Shop.class,
            webEnvironment = WebEnvironment.MOCK,
            properties = "ratelimit.api-keys.enabled=false")
    static class WithoutApiKeys {

        @Test
        @WithApiKey
        void apiKey() {}
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.MOCK)
    @AutoConfigureRateLimit(enabled = false)
    static class SwitchedOff {

        @Test
        @WithRateLimit(limit = "login")
        void limit() {}
    }

    @SpringBootTest(
            classes = WithoutWeb.Batch.class,
            webEnvironment = WebEnvironment.NONE,
            properties = "ratelimit.api-keys.enabled=true")
    static class WithoutWeb {

        @Configuration(proxyBeanMethods = false)
        @EnableAutoConfiguration
        static class Batch {}

        @Test
        @WithApiKey
        void apiKey() {}

        @Test
        void endpoints(@Autowired ApplicationContext context) {
            RateLimitRules.verifyEveryEndpointIsLimited(context);
        }
    }

    @SpringJUnitConfig(MistakesTest.class)
    static class WithoutLimits {

        @Test
        @WithTier("premium")
        void tier() {}
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            unknownLimit           | @WithRateLimit(limit = "logn", remaining = 0): there is no such limit; write one of goods, login, partners, strict
            moreThanTheLimitAllows | @WithRateLimit(limit = "login", remaining = 9): only 3 are left to ip:127.0.0.1; the limit allows 3 requests. Write a smaller number
            lessThanNothing        | @WithRateLimit(limit = "login", remaining = -1): remaining is -1; write zero or more
            notAnAddress           | @WithRateLimit(limit = "login", remaining = 0): address is 'localhost'; write an address such as 203.0.113.7
            notASubject            | @WithRateLimit(limit = "login", remaining = 0): subject is 'alice@example.com'; write its type first, as in user:alice, or key:alice@example.com for the value of an expression
            unknownTier            | @WithTier("gold"): no limit, rule or quota has the tier 'gold'; write one of free, premium
            tierOfNobody           | @WithTier("premium") needs a user: add @WithMockUser, or write @WithTier(value = "premium", user = "alice"). Callers without a user have the tier of ratelimit.tiers.default; set that in the properties of the test for them
            apiKeyOfUnknownTier    | @WithApiKey(tier = "gold"): no limit, rule or quota has the tier 'gold'; write one of free, premium
            """)
    void saysWhatToWrite(String test, String message) {
        assertThat(failure(Cases.class, test)).hasMessage(message);
    }

    @Test
    void apiKeysThatAreNotChecked() {
        assertThat(failure(WithoutApiKeys.class, "apiKey"))
                .hasMessage(
                        "@WithApiKey has no effect: API keys are not checked; set ratelimit.api-keys.enabled=true in"
                                + " the properties of the application or of the test");
    }

    @Test
    void limitsThatAreSwitchedOff() {
        assertThat(failure(SwitchedOff.class, "limit"))
                .hasMessage("@WithRateLimit has no effect: limits are switched off in this test"
                        + " (ratelimit.enabled=false); remove one of the two");
    }

    @Test
    void contextWithoutLimits() {
        assertThat(failure(WithoutLimits.class, "tier"))
                .hasMessage("@WithTier has no effect: the application context of this test has no limits; add"
                        + " @AutoConfigureRateLimit to a slice such as @WebMvcTest, or use @SpringBootTest");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            apiKey    | @WithApiKey has no effect: this test has no web application that gets requests; use @SpringBootTest without webEnvironment = NONE
            endpoints | The application context has no endpoints to verify; use @SpringBootTest without webEnvironment = NONE
            """)
    void applicationWithoutWeb(String test, String message) {
        assertThat(failure(WithoutWeb.class, test)).hasMessage(message);
    }

    private static Throwable failure(Class<?> type, String method) {
        Method named = Arrays.stream(type.getDeclaredMethods())
                .filter(candidate -> candidate.getName().equals(method))
                .findFirst()
                .orElseThrow();
        EngineExecutionResults results = EngineTestKit.engine("junit-jupiter")
                .selectors(DiscoverySelectors.selectMethod(type, named))
                .execute();
        return results.testEvents().failed().stream()
                .findFirst()
                .orElseThrow(() -> new AssertionError(method + " did not fail"))
                .getPayload(org.junit.platform.engine.TestExecutionResult.class)
                .flatMap(org.junit.platform.engine.TestExecutionResult::getThrowable)
                .orElseThrow();
    }
}
