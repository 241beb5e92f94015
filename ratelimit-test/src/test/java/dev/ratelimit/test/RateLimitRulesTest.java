package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.web.servlet.ExemptPaths;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.test.context.TestPropertySource;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;

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
    @Import(ExemptPathBean.NewsAreExempt.class)
    class ExemptPathBean {

        @Test
        void coversItsPaths(@Autowired ApplicationContext own) {
            assertThat(RateLimitRules.unlimitedEndpoints(own)).isEmpty();
        }

        static class NewsAreExempt {

            @Bean
            ExemptPaths news() {
                return () -> List.of("/news/*");
            }
        }
    }

    /** The filter ignores the slash at the end of a path, and so does this check. */
    @Nested
    @Import(SlashAtTheEnd.Weather.class)
    @TestPropertySource(
            properties = {
                "ratelimit.exempt.paths=/news/**",
                "ratelimit.rules.weather.path=/weather",
                "ratelimit.rules.weather.methods=GET",
                "ratelimit.rules.weather.limits=goods"
            })
    class SlashAtTheEnd {

        @Test
        void isReadAsTheFilterReadsIt(@Autowired ApplicationContext own) {
            assertThat(own.getBeansOfType(Weather.class)).hasSize(1);
            assertThat(RateLimitRules.unlimitedEndpoints(own)).isEmpty();
        }

        @RestController
        static class Weather {

            @RequestMapping(path = "/weather/", method = RequestMethod.HEAD)
            void weather() {}
        }
    }

    @Nested
    @TestPropertySource(
            properties = {
                "ratelimit.rules.trial.path=/news/**",
                "ratelimit.rules.trial.priority=10",
                "ratelimit.rules.trial.action=shadow",
                "ratelimit.rules.trial.limits=goods"
            })
    class RuleInShadow {

        @Test
        void coversNothing(@Autowired ApplicationContext own) {
            assertThat(RateLimitRules.unlimitedEndpoints(own)).hasSize(1);
        }
    }

    @Nested
    @TestPropertySource(
            properties = {
                "ratelimit.match=first",
                "ratelimit.rules.trial.path=/news/**",
                "ratelimit.rules.trial.priority=10",
                "ratelimit.rules.trial.action=shadow",
                "ratelimit.rules.trial.limits=goods",
                "ratelimit.rules.news.path=/news/**",
                "ratelimit.rules.news.priority=5",
                "ratelimit.rules.news.limits=goods"
            })
    class RuleBehindOneInShadow {

        @Test
        void coversIt(@Autowired ApplicationContext own) {
            assertThat(RateLimitRules.unlimitedEndpoints(own)).isEmpty();
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
