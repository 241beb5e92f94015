package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;

/** Calls that wait for the status of a response which is written on another thread, later. */
class AsynchronousCallsTest {

    private static final Subject LOCAL = Subject.ip("127.0.0.1");

    private static RunningApplication application;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        LimitStore store() {
            return new MemoryLimitStore();
        }

        @Bean
        Passwords passwords() {
            return new Passwords();
        }
    }

    static class Passwords {

        @RateLimited(limit = "login", countWhen = "#status == 401", resetWhen = "#status == 204")
        public void check() {}

        @RateLimited(limit = "login", countWhen = "#status == 401", resetWhen = "#status == 204")
        public CompletionStage<String> checkLater(CompletableFuture<String> answer) {
            return answer;
        }
    }

    @RestController
    static class Endpoints {

        private final Passwords passwords;

        Endpoints(Passwords passwords) {
            this.passwords = passwords;
        }

        /** The limited call is made in the asynchronous part: when the first chain has returned, nothing waits yet. */
        @GetMapping("/callable")
        Callable<ResponseEntity<Void>> callable(@RequestParam("status") int status) {
            return () -> {
                passwords.check();
                return ResponseEntity.status(status).build();
            };
        }

        @GetMapping("/deferred")
        DeferredResult<ResponseEntity<Void>> deferred(@RequestParam("status") int status) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            DeferredResult<ResponseEntity<Void>> result = new DeferredResult<>();
            passwords
                    .checkLater(answer)
                    .thenRun(
                            () -> result.setResult(ResponseEntity.status(status).build()));
            answer.completeAsync(() -> "checked");
            return result;
        }

        @GetMapping("/stage")
        CompletionStage<ResponseEntity<Void>> stage(@RequestParam("status") int status) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            CompletionStage<ResponseEntity<Void>> response = passwords
                    .checkLater(answer)
                    .thenApply(checked -> ResponseEntity.status(status).build());
            answer.completeAsync(() -> "checked");
            return response;
        }

        /** The response does not wait for what it started. */
        @GetMapping("/outlived")
        ResponseEntity<Void> outlived(@RequestParam("status") int status) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            passwords.checkLater(answer);
            OUTLIVING.complete(answer);
            return ResponseEntity.status(status).build();
        }

        @GetMapping("/annotated")
        @RateLimited(limit = "login", countWhen = "#status == 401", resetWhen = "#status == 204")
        Callable<ResponseEntity<Void>> annotated(@RequestParam("status") int status) {
            return () -> ResponseEntity.status(status).build();
        }
    }

    private static volatile CompletableFuture<CompletableFuture<String>> OUTLIVING = new CompletableFuture<>();

    @BeforeAll
    static void start() {
        application = RunningApplication.start(
                List.of(Application.class, Endpoints.class),
                "ratelimit.limits.login.algorithm=fixed-window",
                "ratelimit.limits.login.max-requests=1000",
                "ratelimit.limits.login.window=3660d");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @BeforeEach
    void forget() {
        application.bean(RateLimiter.class).reset(LOCAL, "login");
        OUTLIVING = new CompletableFuture<>();
    }

    private static long counted() {
        return 1000 - application.bean(RateLimiter.class).peek(LOCAL, "login").remaining();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/callable", "/deferred", "/stage", "/outlived", "/annotated"})
    void callIsSettledByTheStatusThatIsWrittenLater(String path) throws Exception {
        request(path, 401);
        request(path, 401);
        request(path, 200);
        Awaitility.await().untilAsserted(() -> assertThat(counted()).isEqualTo(2));

        request(path, 204);
        Awaitility.await().untilAsserted(() -> assertThat(counted()).isZero());
    }

    private static void request(String path, int status) throws Exception {
        assertThat(application.get(path + "?status=" + status).statusCode()).isEqualTo(status);
        if (path.equals("/outlived")) {
            OUTLIVING.join().complete("checked");
            OUTLIVING = new CompletableFuture<>();
        }
    }
}
