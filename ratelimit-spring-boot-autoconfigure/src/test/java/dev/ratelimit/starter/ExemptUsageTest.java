package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.web.servlet.CallerLimits;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An endpoint that shows usage may be exempt itself, and then still knows whose usage it shows. */
class ExemptUsageTest {

    private static RunningApplication application;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        LimitStore store() {
            return new MemoryLimitStore();
        }

        @Bean
        ApiKeys apiKeys() {
            return secret -> secret.equals("right") ? new ApiKey("key-1", "ci", "olga", "gold", Quota.NONE) : null;
        }

        @RestController
        static class Usage {

            private final CallerLimits limits;

            Usage(CallerLimits limits) {
                this.limits = limits;
            }

            @GetMapping({"/usage", "/exempt/usage"})
            String usage(HttpServletRequest request) {
                Decision decision = limits.peek(request, "GET", "/api/x");
                LimitDecision tightest = decision.tightest();
                return limits.subject(request) + ", " + limits.caller(request).tier() + ": "
                        + (tightest == null ? decision.outcome() : tightest.subject());
            }
        }
    }

    @BeforeAll
    static void start() {
        application = RunningApplication.start(
                List.of(Application.class),
                "ratelimit.api-keys.enabled=true",
                "ratelimit.exempt.paths=/exempt/**",
                "ratelimit.tiers.default=free",
                "ratelimit.limits.api.algorithm=fixed-window",
                "ratelimit.limits.api.max-requests=5",
                "ratelimit.limits.api.window=day",
                "ratelimit.rules.api.path=/api/**",
                "ratelimit.rules.api.limits=api");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @ParameterizedTest
    @CsvSource({
        "/usage, right, 'user:olga, gold: user:olga'",
        "/exempt/usage, right, 'user:olga, gold: user:olga'",
        "/exempt/usage, , 'ip:127.0.0.1, free: ip:127.0.0.1'",
        "/exempt/usage, wrong, 'ip:127.0.0.1, free: UNKNOWN_API_KEY'",
    })
    void apiKeyIsReadOnAnExemptPath(String path, String key, String usage) throws Exception {
        String[] headers = key == null ? new String[0] : new String[] {"X-API-Key", key};

        assertThat(application.get(path, headers).body()).isEqualTo(usage);
    }
}
