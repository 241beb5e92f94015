package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The bad day: the store fails, or does not answer. */
class FailingStoreTest {

    private RunningApplication application;
    private SickStore store;

    static final class SickStore extends ForwardingLimitStore {

        volatile boolean failing;
        volatile CountDownLatch stall = new CountDownLatch(0);

        SickStore() {
            super(new MemoryLimitStore());
        }

        /** The store in memory never stalls; this one does. */
        @Override
        public boolean answersInTime() {
            return false;
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            try {
                stall.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (failing) {
                throw new LimitStoreException("on fire", new IllegalStateException("on fire"));
            }
            return super.decide(group);
        }

        @Override
        public void close() {
            stall.countDown();
            super.close();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        SickStore store() {
            return new SickStore();
        }
    }

    @BeforeEach
    void start() {
        application = RunningApplication.start(
                List.of(Application.class, WebRequestsTest.Endpoints.class),
                "ratelimit.store.deadline=150ms",
                "ratelimit.limits.all.algorithm=fixed-window",
                "ratelimit.limits.all.max-requests=100",
                "ratelimit.limits.all.window=3660d",
                "ratelimit.rules.open.path=/api/plain",
                "ratelimit.rules.open.limits=all",
                "ratelimit.rules.open.on-failure=open",
                "ratelimit.limits.three.algorithm=fixed-window",
                "ratelimit.limits.three.max-requests=3",
                "ratelimit.limits.three.window=3660d",
                "ratelimit.rules.local.path=/api/local/**",
                "ratelimit.rules.local.limits=three",
                "ratelimit.rules.closed.path=/api/callable",
                "ratelimit.rules.closed.limits=all",
                "ratelimit.rules.closed.on-failure=closed");
        store = application.bean(SickStore.class);
    }

    @AfterEach
    void stop() {
        store.stall.countDown();
        application.close();
    }

    @Test
    void requestsPassOrAreRefusedAsTheirRuleSays() throws Exception {
        assertThat(application.get("/api/plain").statusCode()).isEqualTo(200);
        store.failing = true;

        assertThat(application.get("/api/plain").statusCode()).isEqualTo(200);
        HttpResponse<String> refused = application.get("/api/callable");

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
        assertThat(refused.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(refused.body()).contains("temporary-reduced-capacity", "Requests cannot be counted at the moment.");
    }

    @Test
    void requestsOfAnInjectedLimiterFollowTheSettingOfTheApplication() {
        LimitRequest request = LimitRequest.of(Subject.of("user", "alice"), "all");
        try (RunningApplication closed = RunningApplication.start(
                List.of(Application.class),
                "ratelimit.on-failure=closed",
                "ratelimit.limits.all.algorithm=fixed-window",
                "ratelimit.limits.all.max-requests=100",
                "ratelimit.limits.all.window=3660d")) {
            RateLimiter limiter = closed.bean(RateLimiter.class);
            assertThat(limiter.decide(request).allowed()).isTrue();
            closed.bean(SickStore.class).failing = true;

            assertThat(limiter.decide(request).allowed()).isFalse();
            assertThat(limiter.decide(request.onFailure(FailurePolicy.OPEN)).allowed())
                    .isTrue();
        }
    }

    @Test
    void storeThatDoesNotAnswerKeepsNobody() throws Exception {
        assertThat(application.get("/api/plain").statusCode()).isEqualTo(200);
        store.stall = new CountDownLatch(1);

        // Without the deadline none of these would ever return.
        assertThat(application.get("/api/plain").statusCode()).isEqualTo(200);
        assertThat(application.get("/api/callable").statusCode()).isEqualTo(503);
        assertThat(application.get("/api/plain").headers().firstValue("X-RateLimit-Limit"))
                .isEmpty();
    }

    /** The default: this instance decides by the same limits, with the same headers, and charges the store later. */
    @Test
    void requestsAreLimitedLocallyAndChargedWhenTheStoreIsBack() throws Exception {
        store.failing = true;

        HttpResponse<String> first = application.get("/api/local/a");
        assertThat(first.headers().firstValue("X-RateLimit-Limit")).hasValue("3");
        assertThat(first.headers().firstValue("X-RateLimit-Remaining")).hasValue("2");
        assertThat(application.get("/api/local/b").statusCode()).isNotEqualTo(429);
        store.failing = false;
        Awaitility.await().until(() -> application.get("/api/callable").statusCode() == 200);

        HttpResponse<String> third = application.get("/api/local/c");
        assertThat(third.statusCode()).isNotEqualTo(429);
        assertThat(third.headers().firstValue("X-RateLimit-Remaining")).hasValue("0");
        assertThat(application.get("/api/local/d").statusCode()).isEqualTo(429);
    }

    @Test
    void eachOfSeveralInstancesGrantsItsShareMeanwhile() throws Exception {
        try (RunningApplication one = RunningApplication.start(
                List.of(Application.class, WebRequestsTest.Endpoints.class),
                "ratelimit.instances=2",
                "ratelimit.limits.ten.algorithm=fixed-window",
                "ratelimit.limits.ten.max-requests=10",
                "ratelimit.limits.ten.window=3660d",
                "ratelimit.rules.ten.path=/api/plain",
                "ratelimit.rules.ten.limits=ten")) {
            one.bean(SickStore.class).failing = true;
            int passed = 0;
            for (int i = 0; i < 20; i++) {
                passed += one.get("/api/plain").statusCode() == 200 ? 1 : 0;
            }
            assertThat(passed).isEqualTo(5);

            one.bean(SickStore.class).failing = false;
            // Half is left to this instance and to the other, together.
            Awaitility.await().until(() -> one.get("/api/plain").statusCode() == 200);
            HttpResponse<String> next = one.get("/api/plain");
            assertThat(next.headers().firstValue("X-RateLimit-Remaining")).hasValue("3");
        }
    }

    @Test
    void limitHoldsWhileTheStoreIsDown() throws Exception {
        store.failing = true;
        for (int i = 0; i < 3; i++) {
            assertThat(application.get("/api/local/" + i).statusCode()).isNotEqualTo(429);
        }

        HttpResponse<String> denied = application.get("/api/local/more");

        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(denied.body()).contains("At most 3 requests per 3660 days.");
    }

    @Test
    void limitsHoldAgainWhenTheStoreIsBack() throws Exception {
        store.failing = true;
        assertThat(application.get("/api/callable").statusCode()).isEqualTo(503);
        store.failing = false;

        Awaitility.await().until(() -> application.get("/api/callable").statusCode() == 200);
        assertThat(application.get("/api/plain").headers().firstValue("X-RateLimit-Limit"))
                .hasValue("100");
    }
}
