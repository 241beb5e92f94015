package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.starter.RunningApplication.Container;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.AntPathMatcher;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.UrlHandlerFilter;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.util.pattern.PathPatternParser;

/** A path reaches no handler without its rule, however MVC is configured and wherever servlets are mapped. */
@ExtendWith(OutputCaptureExtension.class)
class PathsTest {

    private static final int MANY = 1_000;

    private static RunningApplication start(Class<?> configuration, String... settings) {
        return start(Container.TOMCAT, configuration, settings);
    }

    private static RunningApplication start(Container container, Class<?> configuration, String... settings) {
        String[] all = new String[settings.length + 5];
        all[0] = "ratelimit.limits.all.algorithm=fixed-window";
        all[1] = "ratelimit.limits.all.max-requests=" + MANY;
        all[2] = "ratelimit.limits.all.window=3660d";
        all[3] = "ratelimit.rules.plain.key=ip";
        all[4] = "ratelimit.rules.plain.limits=all";
        System.arraycopy(settings, 0, all, 5, settings.length);
        return RunningApplication.start(
                container,
                List.of(WebRequestsTest.Application.class, WebRequestsTest.Endpoints.class, configuration),
                all);
    }

    private static long counted(RunningApplication application) {
        RateLimiter limiter = application.bean(RateLimiter.class);
        long counted = MANY - limiter.peek(Subject.ip("127.0.0.1"), "all").remaining();
        limiter.reset(Subject.ip("127.0.0.1"), "all");
        return counted;
    }

    private static void assertReachedAndCounted(RunningApplication application, String path) throws IOException {
        assertThat(application.rawStatus("GET " + path + " HTTP/1.1")).as(path).isEqualTo(200);
        assertThat(counted(application)).as(path).isEqualTo(1);
    }

    private static void assertCountedIfReached(RunningApplication application, String path) throws IOException {
        int status = application.rawStatus("GET " + path + " HTTP/1.1");
        long counted = counted(application);
        if (status == 200) {
            assertThat(counted).as(path).isEqualTo(1);
        } else {
            assertThat(status).as(path).isBetween(400, 499);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class IgnoringCase implements WebMvcConfigurer {

        @Override
        public void configurePathMatch(PathMatchConfigurer configurer) {
            PathPatternParser parser = new PathPatternParser();
            parser.setCaseSensitive(false);
            configurer.setPatternParser(parser);
        }
    }

    @Test
    void rulesAndExemptionsIgnoreTheCaseWhereMvcDoes() throws Exception {
        try (RunningApplication application = start(
                IgnoringCase.class, "ratelimit.rules.plain.path=/api/*", "ratelimit.exempt.paths=/api/callable")) {
            assertReachedAndCounted(application, "/api/plain");
            assertReachedAndCounted(application, "/API/plain");
            assertReachedAndCounted(application, "/Api/PLAIN");
            assertThat(application.rawStatus("GET /API/CALLABLE HTTP/1.1")).isEqualTo(200);
            assertThat(counted(application)).isZero();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OlderMatcher implements WebMvcConfigurer {

        @Override
        @SuppressWarnings("removal") // applications may still have it
        public void configurePathMatch(PathMatchConfigurer configurer) {
            AntPathMatcher matcher = new AntPathMatcher();
            matcher.setCaseSensitive(false);
            configurer.setPathMatcher(matcher);
        }
    }

    @Test
    void rulesMatchAsTheOlderMatcherOfMvcDoes() throws Exception {
        try (RunningApplication application = start(OlderMatcher.class, "ratelimit.rules.plain.path=/api/plain")) {
            for (String path : List.of("/api/plain", "/API/plain", "//api/plain", "/api//plain", "/;x/api/plain")) {
                assertReachedAndCounted(application, path);
            }
            for (String path : List.of("/api/plain/", "/x/../api/plain", "/api/./plain")) {
                assertCountedIfReached(application, path);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TrailingSlashes {

        /** Behind our filters, so that they see the path with the slash. */
        @Bean
        FilterRegistrationBean<UrlHandlerFilter> trailingSlashes() {
            FilterRegistrationBean<UrlHandlerFilter> filter = new FilterRegistrationBean<>(
                    UrlHandlerFilter.trailingSlashHandler("/**").wrapRequest().build());
            filter.setOrder(0);
            return filter;
        }
    }

    @Test
    void ruleHoldsForThePathWithASlashAtItsEnd() throws Exception {
        try (RunningApplication application = start(TrailingSlashes.class, "ratelimit.rules.plain.path=/api/plain")) {
            assertReachedAndCounted(application, "/api/plain/");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnServlets {

        @Bean
        ServletRegistrationBean<HttpServlet> own() {
            return new ServletRegistrationBean<>(
                    new HttpServlet() {
                        @Override
                        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                                throws IOException {
                            String inside = String.valueOf(request.getPathInfo());
                            if (request.getServletPath().equals("/pay") || inside.equals("/pay")) {
                                response.getWriter().write("paid");
                            } else {
                                response.sendError(404);
                            }
                        }
                    },
                    "/pay",
                    "/own/*");
        }

        @RestController
        static class Everything {

            @GetMapping("/deep/**")
            String deep() {
                return "deep";
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void rulesNameThePathOfTheServletToo(Container container) throws Exception {
        try (RunningApplication application = start(
                container,
                OwnServlets.class,
                "spring.mvc.servlet.path=/app",
                "ratelimit.rules.plain.path=/app/**",
                "ratelimit.rules.pay.path=/pay",
                "ratelimit.rules.pay.key=ip",
                "ratelimit.rules.pay.limits=all",
                "ratelimit.rules.own.path=/own/pay",
                "ratelimit.rules.own.key=ip",
                "ratelimit.rules.own.limits=all")) {
            for (String path : List.of("/app/api/plain", "/app/deep/x", "/pay", "/own/pay")) {
                assertReachedAndCounted(application, path);
            }
            for (String path : List.of(
                    "/%61pp/api/plain",
                    "/app;x/api/plain",
                    "//app/api/plain",
                    "/app//api/plain",
                    "/xyz/deep/../../app/deep/z",
                    "/x/../app/deep/z",
                    "/p%61y",
                    "/pay;x",
                    "/x/../pay",
                    "//pay",
                    "/./pay",
                    "/own/x/../pay",
                    "/own//pay",
                    "/%6fwn/pay")) {
                assertCountedIfReached(application, path);
            }
        }
    }

    @Test
    void ruleThatLeavesOutThePathOfTheServletIsWarnedOf(CapturedOutput output) throws Exception {
        try (RunningApplication application =
                start(OwnServlets.class, "spring.mvc.servlet.path=/app", "ratelimit.rules.plain.path=/api/**")) {
            assertThat(application.rawStatus("GET /app/api/plain HTTP/1.1")).isEqualTo(200);
            assertThat(counted(application)).isZero();
        }
        assertThat(output)
                .contains(
                        "Rate limit settings that are probably a mistake: rule 'plain' has the path /api/**, but Spring MVC"
                                + " serves paths below /app (spring.mvc.servlet.path): write /app/api/**\n");
    }

    @Test
    void exemptionIsNotReachedByHowAPathIsWritten() throws Exception {
        try (RunningApplication application =
                start(OwnServlets.class, "ratelimit.rules.plain.path=/**", "ratelimit.exempt.paths=/health/**")) {
            for (String path : List.of("/health/../pay", "/health/../own/pay", "/own/../health/../pay")) {
                assertCountedIfReached(application, path);
            }
        }
    }
}
