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
import org.springframework.http.MediaType;
import org.springframework.test.context.TestPropertySource;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

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
                "ratelimit.rules.news.tiers=premium",
                "ratelimit.rules.news.limits=goods",
                "ratelimit.rules.partners-news.path=/news/{id}",
                "ratelimit.rules.partners-news.addresses=192.0.2.0/24",
                "ratelimit.rules.partners-news.limits=goods"
            })
    class RulesForSomeCallers {

        @Test
        void doNotCoverAllOfThem(@Autowired ApplicationContext own) {
            assertThat(RateLimitRules.unlimitedEndpoints(own))
                    .containsExactly("GET /news/{id}: Goods.news(String) (for some callers only: news, partners-news)");
        }
    }

    @Nested
    @TestPropertySource(
            properties = {
                "ratelimit.rules.news.path=/news/{id}",
                "ratelimit.rules.news.tiers=premium",
                "ratelimit.rules.news.limits=goods",
                "ratelimit.rules.other-news.path=/news/{id}",
                "ratelimit.rules.other-news.tiers=free",
                "ratelimit.rules.other-news.limits=goods"
            })
    class RulesForAllTiers {

        @Test
        void coverAllCallersTogether(@Autowired ApplicationContext own) {
            assertThat(RateLimitRules.unlimitedEndpoints(own)).isEmpty();
        }
    }

    @Nested
    @Import(Functions.Routes.class)
    @TestPropertySource(
            properties = {
                "ratelimit.exempt.paths=/news/**",
                "ratelimit.rules.functions.path=/functions/limited/**",
                "ratelimit.rules.functions.limits=goods"
            })
    class Functions {

        @Test
        void areNamedUnlessTheyAreCovered(@Autowired ApplicationContext own) {
            assertThat(RateLimitRules.unlimitedEndpoints(own))
                    .containsExactly(
                            "GET /functions/open/{id}: router function",
                            "any method /functions/nested/any: router function",
                            "not checked: router function (/functions/one || /functions/two)");
        }

        static class Routes {

            @Bean
            RouterFunction<ServerResponse> routes() {
                HandlerFunction<ServerResponse> ok =
                        request -> ServerResponse.ok().build();
                return RouterFunctions.route()
                        .GET("/functions/limited/{id}", ok)
                        .GET("/functions/open/{id}", RequestPredicates.accept(MediaType.TEXT_PLAIN), ok)
                        .path("/functions/nested", nested -> nested.route(RequestPredicates.path("/any"), ok))
                        .path("/functions/limited", nested -> nested.POST("/nested", ok))
                        .route(
                                RequestPredicates.path("/functions/one").or(RequestPredicates.path("/functions/two")),
                                ok)
                        .build();
            }
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
