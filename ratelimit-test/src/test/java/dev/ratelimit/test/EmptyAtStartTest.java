package dev.ratelimit.test;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.engine.StoreRateLimiter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.ApplicationContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** Every test starts without counts, penalties and changes of the tests before it, in one application context. */
@SpringBootTest(classes = Shop.class)
@AutoConfigureMockMvc
class EmptyAtStartTest {

    private static final Set<ApplicationContext> CONTEXTS = new HashSet<>();

    @Autowired
    MockMvcTester mvc;

    @Autowired
    RateLimitAdmin admin;

    @Autowired
    RateLimitClock clock;

    @Autowired
    RateLimitFaults faults;

    @Autowired
    ApplicationContext context;

    @RepeatedTest(3)
    void countsAndPenaltiesDoNotOutliveATest() {
        assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(5);
        assertThatRequest(mvc.post().uri("/login")).isLimitedAfter(3);
        assertThatRequest(mvc.post().uri("/login")).hasRetryAfter("5m");
    }

    @RepeatedTest(2)
    void changesOfLimitsAndKeysDoNotOutliveATest() {
        assertThat(admin.keys().list()).isEmpty();
        assertThatRequest(mvc.get().uri("/goods")).hasRemaining(4);

        admin.limits()
                .set(
                        "goods",
                        Map.of("algorithm", "fixed-window", "max-requests", "50", "window", "1m"),
                        Change.by("test"));
        admin.keys().create(NewApiKey.of("mine", "alice"), Change.by("test"));

        assertThatRequest(mvc.get().uri("/goods")).hasRemaining(48);
        assertThat(admin.keys().list()).hasSize(1);
    }

    @RepeatedTest(2)
    void clockAndFaultsDoNotOutliveATest() {
        assertThat(clock.instant()).isBetween(Instant.now().minusSeconds(120), Instant.now());
        assertThatRequest(mvc.get().uri("/strict")).hasRemaining(99);

        clock.advance("1000d");
        faults.storeIsDown();

        assertThat(mvc.get().uri("/strict")).hasStatus(503);
    }

    @RepeatedTest(2)
    void anOutageDoesNotOutliveATest() {
        assertThatRequest(mvc.get().uri("/goods")).hasRemaining(4);

        faults.storeIsDown();
        StoreRateLimiter limiter = context.getBean(StoreRateLimiter.class);
        LimitRequest request = LimitRequest.of(Subject.ip("127.0.0.1"), "goods");
        await().until(() -> {
            mvc.get().uri("/goods").exchange();
            return limiter.remembered(request) != null;
        });
    }

    @Test
    void countsAreInMemoryAndNothingIsLeftInTheWorkingDirectory() {
        assertThat(Files.exists(Path.of("ratelimit.db"))).isFalse();
    }

    @RepeatedTest(2)
    void testsShareAnApplicationContext() {
        CONTEXTS.add(context);
        assertThat(CONTEXTS).hasSize(1);
    }
}
