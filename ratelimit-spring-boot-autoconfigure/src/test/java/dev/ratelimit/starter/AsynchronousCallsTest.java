package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.starter.RunningApplication.Container;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
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

        @RateLimited("notes")
        public void note() {}

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

        /** Some task decorators pass the attributes of a request on to work that outlives it. */
        @GetMapping("/kept")
        String kept() {
            RequestAttributes attributes = RequestContextHolder.currentRequestAttributes();
            LATER.complete(() -> {
                RequestContextHolder.setRequestAttributes(attributes);
                try {
                    passwords.note();
                } finally {
                    RequestContextHolder.resetRequestAttributes();
                }
            });
            return "ok";
        }

        @GetMapping("/annotated")
        @RateLimited(limit = "login", countWhen = "#status == 401", resetWhen = "#status == 204")
        Callable<ResponseEntity<Void>> annotated(@RequestParam("status") int status) {
            return () -> ResponseEntity.status(status).build();
        }
    }

    private static volatile CompletableFuture<CompletableFuture<String>> OUTLIVING = new CompletableFuture<>();

    private static volatile CompletableFuture<Runnable> LATER = new CompletableFuture<>();

    @BeforeAll
    static void start() {
        application = start(Container.TOMCAT);
    }

    private static RunningApplication start(Container container) {
        return RunningApplication.start(
                container,
                List.of(Application.class, Endpoints.class),
                "ratelimit.limits.login.algorithm=fixed-window",
                "ratelimit.limits.login.max-requests=1000",
                "ratelimit.limits.login.window=3660d",
                "ratelimit.limits.notes.base=login");
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

    /** The container has recycled the request by then: the call is one outside of the web. */
    @ParameterizedTest
    @EnumSource(Container.class)
    void callAfterTheResponseIsOneOutsideOfTheWeb(Container container) throws Exception {
        LATER = new CompletableFuture<>();
        try (RunningApplication own = start(container)) {
            assertThat(own.get("/kept").statusCode()).isEqualTo(200);
            RateLimiter limiter = own.bean(RateLimiter.class);

            // The container needs a moment after the response.
            Awaitility.await().until(() -> {
                LATER.join().run();
                return limiter.peek(Subject.of("call", "anyone"), "notes").remaining() < 1000;
            });
        }
    }
}
