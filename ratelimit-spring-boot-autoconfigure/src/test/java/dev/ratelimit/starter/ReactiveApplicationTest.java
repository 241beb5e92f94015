package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.reactive.HttpHandler;

/** An application on WebFlux, with a real server: its requests are not limited, so it stops. */
@ExtendWith(OutputCaptureExtension.class)
class ReactiveApplicationTest {

    static class Jobs {

        @RateLimited("calls")
        public String run() {
            return "done";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = DataSourceAutoConfiguration.class,
            // needs WebFlux as a whole
            excludeName = "org.springframework.boot.security.autoconfigure.actuate.web.reactive"
                    + ".ReactiveManagementWebSecurityAutoConfiguration")
    static class Application {

        @Bean
        HttpHandler web() {
            return (request, response) -> response.setComplete();
        }

        @Bean
        Jobs jobs() {
            return new Jobs();
        }
    }

    private static ConfigurableApplicationContext start(String setting) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.REACTIVE);
        return application.run(
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--ratelimit.store.type=memory",
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=1",
                "--ratelimit.limits.calls.window=3660d",
                setting);
    }

    @Test
    void stopsAndSaysHowToGoOn(CapturedOutput output) {
        assertThatThrownBy(() -> start("--ratelimit.enabled=true").close()).isInstanceOf(RuntimeException.class);

        assertThat(output)
                .contains(
                        "APPLICATION FAILED TO START",
                        "Property: spring.main.web-application-type\n    Value: 'reactive'",
                        "Use Spring MVC (spring-boot-starter-webmvc) instead of WebFlux");
    }

    @Test
    void runsWithoutLimits() {
        try (ConfigurableApplicationContext application = start("--ratelimit.enabled=false")) {
            Jobs jobs = application.getBean(Jobs.class);
            assertThat(jobs.run()).isEqualTo("done");
            assertThat(jobs.run()).isEqualTo("done");
        }
    }
}
