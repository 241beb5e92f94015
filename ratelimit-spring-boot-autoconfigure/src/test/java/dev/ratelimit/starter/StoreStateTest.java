package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.starter.FailingStoreTest.SickStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Log lines and meters when a store goes down and comes back. */
@ExtendWith(OutputCaptureExtension.class)
class StoreStateTest {

    private static final String DOWN = "Store unavailable; applying on-failure";
    private static final String UP = "Store available again; deciding rate limits there";

    /** The deadline is what it is by default. */
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitMetricsAutoConfiguration.class))
            .withBean(SickStore.class)
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withPropertyValues(
                    "ratelimit.limits.all.algorithm=fixed-window",
                    "ratelimit.limits.all.max-requests=1000",
                    "ratelimit.limits.all.window=3660d");

    @Test
    void oneLineIsLoggedForEachChangeOfState(CapturedOutput output) {
        application.withPropertyValues("ratelimit.store.deadline=10s").run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            SickStore store = context.getBean(SickStore.class);
            for (int round = 1; round <= 2; round++) {
                store.failing = true;
                for (int i = 0; i < 5; i++) {
                    assertThat(decide(limiter).outcome()).isEqualTo(Outcome.FAILED);
                }
                assertThat(lines(output, DOWN)).isEqualTo(round);
                assertThat(lines(output, UP)).isEqualTo(round - 1);

                store.failing = false;
                Awaitility.await().until(() -> decide(limiter).outcome() == Outcome.ALLOWED);
                long linesSoFar = round;
                Awaitility.await().until(() -> {
                    assertThat(decide(limiter).outcome()).isEqualTo(Outcome.ALLOWED);
                    return lines(output, UP) == linesSoFar;
                });
                assertThat(lines(output, DOWN)).isEqualTo(round);
            }
        });
    }

    @Test
    void everyRequestWithoutADecisionIsCounted() {
        application.withPropertyValues("ratelimit.store.deadline=10s").run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            decide(limiter);
            assertThat(meters.get("ratelimit.store.errors").counters()).allMatch(counter -> counter.count() == 0);

            context.getBean(SickStore.class).failing = true;
            for (int i = 0; i < 3; i++) {
                decide(limiter);
            }
            for (int i = 0; i < 2; i++) {
                limiter.decide(LimitRequest.of(Subject.user("alice"), "all").onFailure(FailurePolicy.CLOSED));
            }

            assertThat(meters.get("ratelimit.store.errors")
                            .tag("outcome", "failed")
                            .counter()
                            .count())
                    .isEqualTo(5);
            assertThat(requests(meters, "failed_open")).isEqualTo(3);
            assertThat(requests(meters, "failed_closed")).isEqualTo(2);
        });
    }

    private static double requests(MeterRegistry meters, String outcome) {
        return meters.get("ratelimit.requests")
                .tags("limit", "all", "outcome", outcome)
                .counter()
                .count();
    }

    @Test
    void requestThatIsDecidedLocallyIsCounted() {
        application.withPropertyValues("ratelimit.store.deadline=10s").run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            context.getBean(SickStore.class).failing = true;
            for (int i = 0; i < 3; i++) {
                assertThat(limiter.decide(Subject.user("alice"), "all").local()).isTrue();
            }

            assertThat(meters.get("ratelimit.store.errors")
                            .tag("outcome", "decided_locally")
                            .counter()
                            .count())
                    .isEqualTo(3);
            assertThat(meters.get("ratelimit.requests")
                            .tags("limit", "all", "outcome", "allowed")
                            .counter()
                            .count())
                    .isEqualTo(3);
        });
    }

    @Test
    void storeThatHangsHoldsNobodyLongerThanTheDeadlineThatIsSetByDefault() {
        application.run(context -> {
            SickStore store = context.getBean(SickStore.class);
            store.stall = new CountDownLatch(1);
            try {
                // Would not return while the store hangs.
                Decision decision = decide(context.getBean(RateLimiter.class));

                assertThat(decision.outcome()).isEqualTo(Outcome.FAILED);
                assertThat(decision.allowed()).isTrue();
                assertThat(store.stall.getCount()).isEqualTo(1);
            } finally {
                store.stall.countDown();
            }
        });
    }

    private static Decision decide(RateLimiter limiter) {
        return limiter.decide(LimitRequest.of(Subject.user("alice"), "all").onFailure(FailurePolicy.OPEN));
    }

    private static long lines(CapturedOutput output, String text) {
        return output.getOut().lines().filter(line -> line.contains(text)).count();
    }
}
