package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.starter.RunningApplication.Container;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.ModelAndView;

/** A filter of the application that comes before ours leads the request elsewhere: it is counted where it arrives, once. */
class EarlyDispatchTest {

    private static final int MANY = 1_000;

    @Configuration(proxyBeanMethods = false)
    static class Dispatching {

        @Bean
        FilterRegistrationBean<OncePerRequestFilter> forwarding() {
            FilterRegistrationBean<OncePerRequestFilter> filter = new FilterRegistrationBean<>(new Forwarding());
            filter.setOrder(-1_000);
            return filter;
        }
    }

    static final class Forwarding extends OncePerRequestFilter {

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String target = request.getHeader("X-Forward-To");
            if (target == null) {
                chain.doFilter(request, response);
            } else {
                request.getRequestDispatcher(target).forward(request, response);
            }
        }
    }

    @RestController
    static class Later {

        /** Is rendered in an asynchronous dispatch. */
        @GetMapping("/api/later")
        Callable<ModelAndView> later() {
            return () -> new ModelAndView("forward:/inner");
        }

        @GetMapping("/inner")
        String inner() {
            return "inner";
        }
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void requestIsCountedOnceWhereItArrives(Container container) throws Exception {
        try (RunningApplication application = RunningApplication.start(
                container,
                List.of(
                        WebRequestsTest.Application.class,
                        WebRequestsTest.Endpoints.class,
                        Dispatching.class,
                        Later.class),
                "ratelimit.limits.all.algorithm=fixed-window",
                "ratelimit.limits.all.max-requests=" + MANY,
                "ratelimit.limits.all.window=3660d",
                "ratelimit.limits.inner.base=all",
                "ratelimit.rules.all.path=/api/**",
                "ratelimit.rules.all.key=ip",
                "ratelimit.rules.all.limits=all",
                "ratelimit.rules.inner.path=/inner",
                "ratelimit.rules.inner.limits=inner")) {
            int expected = 0;
            for (String target : List.of("/api/plain", "/api/callable", "/api/forward")) {
                assertThat(application.get("/elsewhere", "X-Forward-To", target).statusCode())
                        .as(target)
                        .isEqualTo(200);
                assertThat(counted(application, "all")).as(target).isEqualTo(++expected);
            }
            for (String path : List.of("/api/plain", "/api/callable", "/api/forward", "/api/later")) {
                assertThat(application.get(path).statusCode()).as(path).isEqualTo(200);
                assertThat(counted(application, "all")).as(path).isEqualTo(++expected);
            }
            assertThat(counted(application, "inner")).isZero();
            assertThat(application.get("/elsewhere", "X-Forward-To", "/inner").statusCode())
                    .isEqualTo(200);
            assertThat(counted(application, "inner")).isEqualTo(1);
        }
    }

    private static long counted(RunningApplication application, String limit) {
        return MANY
                - application
                        .bean(RateLimiter.class)
                        .peek(Subject.ip("127.0.0.1"), limit)
                        .remaining();
    }
}
