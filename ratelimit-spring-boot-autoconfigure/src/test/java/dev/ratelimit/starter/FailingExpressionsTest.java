package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.web.servlet.SubjectResolver;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** An expression or a bean that fails with every request: each is counted, none is answered 500, and the log stays short. */
@ExtendWith(OutputCaptureExtension.class)
class FailingExpressionsTest {

    private static RunningApplication application;

    /** Fails whatever it is asked. */
    static class Tenants {

        public String of(Object anything) {
            throw new IllegalStateException("no tenant today");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        Tenants tenants() {
            return new Tenants();
        }

        @Bean
        SubjectResolver failing() {
            return request -> {
                throw new IllegalStateException("no subject today");
            };
        }
    }

    @RestController
    static class Endpoints {

        @GetMapping({"/rule-key", "/rule-bean", "/rule-condition", "/rule-null"})
        String ruled() {
            return "ok";
        }

        @GetMapping("/key-property")
        @RateLimited(limit = "two", key = "#form.usernme")
        String keyProperty(@RequestParam Map<String, String> form) {
            return "ok";
        }

        @GetMapping("/key-bean")
        @RateLimited(limit = "two", key = "@tenants.of(#request)")
        String keyBean() {
            return "ok";
        }

        @GetMapping("/key-resolver")
        @RateLimited(limit = "two", key = "bean:failing")
        String keyResolver() {
            return "ok";
        }

        @GetMapping("/key-null")
        @RateLimited(limit = "two", key = "#name.length() + 'x'")
        String keyNull(@RequestParam(required = false) String name) {
            return "ok";
        }

        @GetMapping("/cost")
        @RateLimited(limit = "two", cost = "@tenants.of(#request)")
        String cost() {
            return "ok";
        }

        @GetMapping("/cost-word")
        @RateLimited(limit = "two", cost = "#request.method")
        String costWord() {
            return "ok";
        }

        @GetMapping("/count-when")
        @RateLimited(limit = "two", countWhen = "@tenants.of(#result)")
        String countWhen() {
            return "ok";
        }

        @GetMapping("/reset-when")
        @RateLimited(limit = "two", resetWhen = "#result.nothing")
        Object resetWhen() {
            return "ok";
        }
    }

    @BeforeAll
    static void start() {
        application = RunningApplication.start(
                List.of(Application.class, Endpoints.class),
                "ratelimit.store.type=memory",
                "ratelimit.identity.trusted-proxies=127.0.0.1",
                "ratelimit.limits.two.algorithm=fixed-window",
                "ratelimit.limits.two.max-requests=2",
                "ratelimit.limits.two.window=3660d",
                "ratelimit.rules.key.path=/rule-key",
                "ratelimit.rules.key.key=@tenants.of(#request)",
                "ratelimit.rules.key.limits=two",
                "ratelimit.rules.bean.path=/rule-bean",
                "ratelimit.rules.bean.key=bean:failing",
                "ratelimit.rules.bean.limits=two",
                "ratelimit.rules.null.path=/rule-null",
                "ratelimit.rules.null.key=#principal.name",
                "ratelimit.rules.null.limits=two",
                "ratelimit.rules.condition.path=/rule-condition",
                "ratelimit.rules.condition.condition=@tenants.of(#request) == 'small'",
                "ratelimit.rules.condition.limits=two");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    /** The third request for each path is denied, since two of the same address came before. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/rule-key | 1 | The key @tenants.of(#request) of key failed; counting the request by its address",
                "/rule-bean | 2 | The key bean:failing of bean failed; counting the request by its address",
                "/rule-null | 3 | The key #principal.name of null failed; counting the request by its address",
                "/rule-condition | 4 | Condition of rule 'condition' failed; treating it as true",
                "/key-property | 5 | key failed; counting the call by the address of the client",
                "/key-bean | 6 | key failed; counting the call by the address of the client",
                "/key-null | 7 | key failed; counting the call by the address of the client",
                "/key-resolver | 8 | failed; counting the request by its address",
                "/cost | 9 | cost failed; charging the usual cost of the limit",
                "/cost-word | 10 | cost failed; charging the usual cost of the limit",
                "/count-when | 11 | countWhen or resetWhen failed; counting the call",
                "/reset-when | 12 | countWhen or resetWhen failed; counting the call",
            },
            quoteCharacter = '\u0000')
    void requestCountsByItsAddressAndIsNotAnswered500(String path, int number, String line, CapturedOutput output)
            throws Exception {
        String address = "198.51.100." + number;
        assertThat(status(path, address)).isEqualTo(200);
        assertThat(status(path, address)).isEqualTo(200);
        assertThat(status(path, address)).isEqualTo(429);
        assertThat(status(path, "203.0.113." + number)).isEqualTo(200);

        assertThat(StringUtils.countOccurrencesOf(output.getAll(), line + " (logged once a minute at most): "))
                .isEqualTo(1);
    }

    private static int status(String path, String address) throws Exception {
        return application.get(path, "X-Forwarded-For", address).statusCode();
    }
}
