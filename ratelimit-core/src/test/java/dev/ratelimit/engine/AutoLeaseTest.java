package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code lease: auto}: the instance finds out which subjects are worth a lease. */
class AutoLeaseTest {

    private static final Subject BOB = Subject.user("bob");
    private static final Limit AUTO = Limit.named("auto")
            .algorithm(new FixedWindow(10_000, Duration.ofHours(1)))
            .lease(Lease.AUTO)
            .build();

    private final CountingStore store = new CountingStore(new SettableClock());
    private final StoreRateLimiter limiter =
            StoreRateLimiter.builder(new Contended(), Limits.of(AUTO)).build();

    /** Other instances fight over some subjects. */
    private final class Contended extends ForwardingLimitStore {

        Contended() {
            super(store);
        }

        @Override
        public boolean isContended(StateKey key) {
            return key.subject().startsWith("user:contended");
        }
    }

    @AfterEach
    void close() {
        limiter.close();
    }

    /** How often the store is asked for that many requests. */
    private int asked(Subject subject, int requests) {
        int before = store.asked();
        for (int i = 0; i < requests; i++) {
            assertThat(limiter.decide(subject, AUTO).allowed()).isTrue();
        }
        return store.asked() - before;
    }

    @Test
    void subjectThatIsAskedForOnceOrTwiceHasNoLease() {
        assertThat(asked(BOB, 2)).isEqualTo(2);
        assertThat(limiter.decide(BOB, AUTO).remaining())
                .as("nothing is taken in advance")
                .isEqualTo(10_000 - 3);
    }

    @Test
    void leasesOfAHotSubjectGrow() {
        assertThat(asked(BOB, 2_000)).isBetween(4, 1_000);
    }

    /** Unless the test is held up for so long that the subject is no longer hot. */
    @Test
    void subjectThatInstancesFightOverHasALeaseFromTheSecondRequestOn() {
        AtomicInteger number = new AtomicInteger();
        await().until(() -> asked(Subject.user("contended" + number.incrementAndGet()), 17) == 2);

        assertThat(asked(BOB, 17)).isGreaterThan(2);
    }
}
