package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.test.context.TestPropertySource;

@SpringBootTest(classes = Shop.class)
class RateLimitRulesTest {

    @Autowired
    ApplicationContext context;

    @Test
    void namesTheEndpointsThatNothingCovers() {
        assertThatThrownBy(() -> RateLimitRules.verifyEveryEndpointIsLimited(context))
                .isInstanceOf(AssertionError.class)
                .hasMessage("""
                        1 endpoint is not limited:
                          GET /news/{id}: Goods.news(String)
                        Add a rule for the path under ratelimit.rules, or @RateLimited to the method. If it needs no limit,\
                         add @RateLimitExempt, or the path to ratelimit.exempt.paths.""");
        assertThat(RateLimitRules.unlimitedEndpoints(context)).containsExactly("GET /news/{id}: Goods.news(String)");
    }

    @Test
    void contextWithoutLimits() {
        assertThatThrownBy(() -> RateLimitRules.verifyEveryEndpointIsLimited(new StaticApplicationContext()))
                .hasMessageStartingWith("The application context has no rate limits; use @SpringBootTest");
    }

    @Nested
    @TestPropertySource(properties = "ratelimit.exempt.paths=/news/**")
    class ExemptPath {

        @Test
        void isCovered(@Autowired ApplicationContext own) {
            assertThatCode(() -> RateLimitRules.verifyEveryEndpointIsLimited(own))
                    .doesNotThrowAnyException();
        }
    }

    @Nested
    @TestPropertySource(
            properties = {
                "ratelimit.rules.news.path=/news/{id}",
                "ratelimit.rules.news.methods=POST",
                "ratelimit.rules.news.limits=goods"
            })
    class RuleOfAnotherMethod {

        @Test
        void coversNothing(@Autowired ApplicationContext own) {
            assertThat(RateLimitRules.unlimitedEndpoints(own)).hasSize(1);
        }
    }

    @Nested
    @TestPropertySource(
            properties = {
                "ratelimit.rules.news.path=/news/{id}",
                "ratelimit.rules.news.methods=GET",
                "ratelimit.rules.news.action=block"
            })
    class RuleOfTheMethod {

        @Test
        void coversIt(@Autowired ApplicationContext own) {
            assertThat(RateLimitRules.unlimitedEndpoints(own)).isEmpty();
        }
    }
}
