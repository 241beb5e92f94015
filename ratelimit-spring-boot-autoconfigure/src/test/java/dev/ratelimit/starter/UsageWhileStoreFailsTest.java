package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.starter.FailingStoreTest.SickStore;
import dev.ratelimit.web.servlet.CallerLimits;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Usage and the filter agree while the store fails, whatever the failure policies of both steps are. */
class UsageWhileStoreFailsTest {

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        SickStore store() {
            return new SickStore();
        }
    }

    @RestController
    static class Endpoints {

        private final CallerLimits limits;

        Endpoints(CallerLimits limits) {
            this.limits = limits;
        }

        @GetMapping("/usage")
        String usage(HttpServletRequest request) {
            Decision decision = limits.peek(request, "GET", "/page");
            return decision.outcome() + " " + decision.allowed();
        }

        @GetMapping("/page")
        String page() {
            return "ok";
        }
    }

    /** The last column is the status of the third request, when the limits of two are used up if they count. */
    @ParameterizedTest
    @CsvSource({
        "open, open, FAILED true, 200",
        "open, closed, FAILED false, 503",
        "closed, open, FAILED false, 503",
        "open, local, THROTTLED false, 429",
        "local, open, THROTTLED false, 429",
        "local, local, THROTTLED false, 429"
    })
    void usageSaysWhatTheFilterDoes(String onArrival, String later, String usage, int status) throws Exception {
        List<String> settings = new ArrayList<>();
        for (String limit : List.of("first", "second")) {
            settings.addAll(List.of(
                    "ratelimit.limits." + limit + ".algorithm=fixed-window",
                    "ratelimit.limits." + limit + ".max-requests=2",
                    "ratelimit.limits." + limit + ".window=3660d",
                    "ratelimit.rules." + limit + ".path=/page",
                    "ratelimit.rules." + limit + ".limits=" + limit));
        }
        settings.addAll(List.of(
                "ratelimit.rules.first.key=ip",
                "ratelimit.rules.second.key=user",
                "ratelimit.rules.first.on-failure=" + onArrival,
                "ratelimit.rules.second.on-failure=" + later));
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class, Endpoints.class), settings.toArray(String[]::new))) {
            application.bean(SickStore.class).failing = true;
            application.get("/page");
            application.get("/page");

            assertThat(application.get("/usage").body()).isEqualTo(usage);
            assertThat(application.get("/page").statusCode()).isEqualTo(status);
        }
    }
}
