package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.starter.RunningApplication.Container;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Error pages are dispatched after the filters have returned, and with them the record of the request. */
class DecisionsAfterTheRecordTest {

    static final class Records implements DecisionListener {

        private final List<RequestRecord> all = new CopyOnWriteArrayList<>();

        @Override
        public void recorded(RequestRecord request) {
            all.add(request);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        LimitStore store() {
            return new MemoryLimitStore();
        }

        @Bean
        Records records() {
            return new Records();
        }
    }

    @RestController
    static class ErrorPage implements ErrorController {

        @RequestMapping("/error")
        @RateLimited(limit = "errors", key = "ip")
        public ResponseEntity<String> page() {
            return ResponseEntity.status(HttpStatus.I_AM_A_TEAPOT).body("sorry");
        }

        @GetMapping("/fails")
        String fails() {
            throw new IllegalStateException("failed on purpose");
        }
    }

    @ParameterizedTest
    @EnumSource(Container.class)
    void decisionInAnErrorPageHasARecordOfItsOwn(Container container) throws Exception {
        try (RunningApplication application = RunningApplication.start(
                container,
                List.of(Application.class, ErrorPage.class),
                "ratelimit.limits.errors.algorithm=fixed-window",
                "ratelimit.limits.errors.max-requests=1000",
                "ratelimit.limits.errors.window=3660d")) {
            List<RequestRecord> records = application.bean(Records.class).all;

            assertThat(application.get("/fails").statusCode()).isEqualTo(418);
            assertThat(application.get("/no/such/page").statusCode()).isEqualTo(418);
            await().until(() -> records.size() >= 4);

            assertThat(records).hasSize(4);
            assertThat(records)
                    .filteredOn(record -> record.exchange() != null)
                    .allSatisfy(record -> assertThat(record.asked()).isEmpty());
            assertThat(records)
                    .filteredOn(record -> record.exchange() == null)
                    .flatExtracting(RequestRecord::asked)
                    .flatExtracting(asked -> asked.request().items())
                    .extracting(LimitRequest.Item::limitName)
                    .containsExactly("errors", "errors");
        }
    }
}
