package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Subject;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** However a request is written and dispatched, it is counted once. */
class WebRequestsTest {

    private static final int MANY = 1_000;
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
        AskedLimits askedLimits() {
            return new AskedLimits();
        }
    }

    static final class AskedLimits implements DecisionListener {

        private final List<RequestRecord> records = new CopyOnWriteArrayList<>();

        @Override
        public void recorded(RequestRecord request) {
            records.add(request);
        }

        /** The limits that requests asked which came since then, each with its rule. */
        private List<String> askedSince(Instant start) {
            return records.stream()
                    .filter(one -> !one.at().isBefore(start))
                    .flatMap(one -> one.asked().stream())
                    .flatMap(one -> one.request().items().stream())
                    .map(item -> item.limitName() + " for " + item.rule())
                    .toList();
        }
    }

    @RestController
    static class Endpoints {

        @GetMapping("/api/plain")
        String plain() {
            return "plain";
        }

        @PostMapping("/api/plain")
        String posted() {
            return "posted";
        }

        @DeleteMapping("/api/plain")
        String deleted() {
            return "deleted";
        }

        @GetMapping("/api/callable")
        Callable<String> callable() {
            return () -> "callable";
        }

        @GetMapping("/api/future")
        CompletableFuture<String> future() {
            return CompletableFuture.supplyAsync(() -> "future");
        }

        @GetMapping("/api/events")
        SseEmitter events() throws IOException {
            SseEmitter events = new SseEmitter();
            events.send("one");
            events.send("two");
            events.complete();
            return events;
        }

        @GetMapping("/api/forward")
        void forward(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/api/plain").forward(request, response);
        }

        @GetMapping("/api/error")
        String error() {
            throw new IllegalStateException("failed on purpose");
        }

        @PostMapping("/api/upload")
        String upload(@RequestParam("file") MultipartFile file) {
            return file.getOriginalFilename();
        }
    }

    @BeforeAll
    static void start() {
        application = RunningApplication.start(
                List.of(Application.class, Endpoints.class),
                "ratelimit.limits.all.algorithm=fixed-window",
                "ratelimit.limits.all.max-requests=" + MANY,
                "ratelimit.limits.all.window=3660d",
                "ratelimit.limits.tight.algorithm=token-bucket",
                "ratelimit.limits.tight.burst=1",
                "ratelimit.limits.tight.refill=1/d",
                "ratelimit.limits.deletes.algorithm=fixed-window",
                "ratelimit.limits.deletes.max-requests=1",
                "ratelimit.limits.deletes.window=3660d",
                "spring.mvc.hiddenmethod.filter.enabled=true",
                "ratelimit.rules.deletes.path=/api/plain",
                "ratelimit.rules.deletes.methods=DELETE",
                "ratelimit.rules.deletes.key=ip",
                "ratelimit.rules.deletes.limits=deletes",
                "ratelimit.rules.api.path=/api/**",
                "ratelimit.rules.api.key=ip",
                "ratelimit.rules.api.limits=all",
                "ratelimit.rules.posts.path=/api/plain",
                "ratelimit.rules.posts.methods=POST",
                "ratelimit.rules.posts.key=ip",
                "ratelimit.rules.posts.priority=7",
                "ratelimit.rules.posts.limits=all",
                "ratelimit.rules.reads.path=/api/{name}",
                "ratelimit.rules.reads.methods=get",
                "ratelimit.rules.reads.key=header:X-Reader",
                "ratelimit.rules.reads.priority=5",
                "ratelimit.rules.reads.limits=tight");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @BeforeEach
    void forget() {
        application.bean(RateLimiter.class).reset(LOCAL, "all");
        application.bean(RateLimiter.class).reset(LOCAL, "tight");
    }

    private static long counted() {
        return MANY - application.bean(RateLimiter.class).peek(LOCAL, "all").remaining();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/api/plain", "/api/callable", "/api/future", "/api/events", "/api/forward", "/api/error"})
    void requestIsCountedOnceHoweverItIsDispatched(String path) throws Exception {
        application.get(path, "X-Reader", path);

        assertThat(counted()).isEqualTo(1);
    }

    @Test
    void uploadIsCountedOnce() throws Exception {
        HttpResponse<String> response = application.post(
                "/api/upload",
                "multipart/form-data; boundary=x",
                "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello\r\n--x--\r\n");

        assertThat(response.body()).isEqualTo("a.txt");
        assertThat(counted()).isEqualTo(1);
    }

    /** Every spelling of a path that reaches a handler is counted; one that reaches none need not be. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api/plain;x=1", "/api;x/plain", "/%61pi/plain", "/api/%70lain", "//api/plain", "/api//plain",
                "/api/plain/", "/api/./plain", "/x/../api/plain", "/api/plain?x=1", "/API/plain", "/api/plain%20",
                "/api%2Fplain", "/api/plain%00", "/api/%zz", "/;/api/plain", "/api\\plain"
            })
    void pathIsNotGotAroundByHowItIsWritten(String path) throws Exception {
        int status = application.rawStatus("GET " + path + " HTTP/1.1");

        if (status == 200) {
            assertThat(counted()).isEqualTo(1);
        } else {
            assertThat(status).isBetween(400, 499);
        }
    }

    @Test
    void headIsCountedAsGetIs() throws Exception {
        assertThat(application.rawStatus("HEAD /api/plain HTTP/1.1")).isEqualTo(200);
        assertThat(application.rawStatus("HEAD /api/plain HTTP/1.1")).isEqualTo(429);
        assertThat(application.rawStatus("POST /api/plain HTTP/1.1")).isEqualTo(200);
    }

    /** Spring's filter for forms replaces the method. */
    @Test
    void methodThatReplacesTheOneSentIsCounted() throws Exception {
        String form = "application/x-www-form-urlencoded";

        assertThat(application.post("/api/plain", form, "_method=DELETE").body())
                .isEqualTo("deleted");
        assertThat(application.post("/api/plain", form, "_method=delete").statusCode())
                .isEqualTo(429);
        assertThat(application.post("/api/plain", form, "_method=POST").body()).isEqualTo("posted");
    }

    @Test
    void requestDeniedByOneRuleIsChargedOnNone() throws Exception {
        application.get("/api/plain", "X-Reader", "carol");
        HttpResponse<String> denied = application.get("/api/plain", "X-Reader", "carol");

        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(denied.body()).contains("\"violated-policies\":[\"tight\"]");
        assertThat(counted()).isEqualTo(1);
    }

    /** Both rules name the same limit for the same client. */
    @Test
    void limitThatTwoRulesNameIsAskedOnceForTheRuleOfHigherPriority() throws Exception {
        AskedLimits asked = application.bean(AskedLimits.class);
        Instant start = Instant.now();

        application.post("/api/plain", "text/plain", "");

        assertThat(counted()).isEqualTo(1);
        // The record is complete when the response is, which the client may have before.
        Awaitility.await()
                .untilAsserted(() -> assertThat(asked.askedSince(start)).containsExactly("all for posts"));
    }

    @Test
    void headersShowTheTightestLimitAndAllPolicies() throws Exception {
        HttpResponse<String> response = application.get("/api/plain", "X-Reader", "dave");

        assertThat(response.headers().firstValue("X-RateLimit-Limit")).hasValue("1");
        assertThat(response.headers().firstValue("X-RateLimit-Remaining")).hasValue("0");
        assertThat(response.headers().firstValue("RateLimit-Policy"))
                .hasValue("\"tight\";q=1;w=86400, \"all\";q=1000;w=316224000");
        assertThat(response.headers().firstValue("RateLimit").orElse("")).matches("\"tight\";r=0;t=86(400|399)");
        assertThat(response.headers().firstValue("Retry-After")).isEmpty();
    }
}
