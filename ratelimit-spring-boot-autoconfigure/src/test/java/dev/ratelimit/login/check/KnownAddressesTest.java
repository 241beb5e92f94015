package dev.ratelimit.login.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** An address stays known for 30 days after each login from it. */
class KnownAddressesTest {

    private static final Subject ALICE =
            LoginSubjects.of("198.51.100.1", "alice").together();

    private static final Instant START = Instant.parse("2031-05-06T07:08:09Z");

    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private final InstantSource clock = now::get;
    private final CountingStore store = new CountingStore(clock);
    private final StoreRateLimiter limiter =
            StoreRateLimiter.builder(store, Limits.of()).build();
    private final KnownAddresses known = instance();

    private static final class CountingStore extends ForwardingLimitStore {

        private int calls;

        CountingStore(InstantSource clock) {
            super(new MemoryLimitStore(clock));
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            calls++;
            return super.decide(group);
        }
    }

    /** Another instance of the application, which remembers nothing. */
    private KnownAddresses instance() {
        return new KnownAddresses(limiter, "login", clock);
    }

    private void onDay(double day) {
        now.set(START.plus(Duration.ofMinutes(Math.round(day * 24 * 60))));
    }

    @Test
    void loginIsKnownForThirtyDays() {
        assertThat(known.contains(ALICE)).isFalse();
        known.succeeded(ALICE);

        for (double day : new double[] {0, 1, 29, 30}) {
            onDay(day);
            assertThat(known.contains(ALICE)).as("day %s", day).isTrue();
            assertThat(instance().contains(ALICE)).as("day %s", day).isTrue();
        }
        onDay(31);
        assertThat(known.contains(ALICE)).isFalse();
        assertThat(instance().contains(ALICE)).isFalse();
    }

    @Test
    void eachLoginRenewsIt() {
        known.succeeded(ALICE);
        onDay(29);
        assertThat(known.contains(ALICE)).isTrue();
        known.succeeded(ALICE);

        onDay(31);
        assertThat(known.contains(ALICE)).isTrue();
        assertThat(instance().contains(ALICE)).isTrue();
        onDay(29 + 30);
        assertThat(known.contains(ALICE)).isTrue();
        onDay(29 + 31);
        assertThat(known.contains(ALICE)).isFalse();
    }

    @Test
    void dailyLoginsKeepItKnown() {
        for (int day = 0; day < 100; day++) {
            onDay(day * 0.9);
            assertThat(known.contains(ALICE)).as("login %s", day).isEqualTo(day > 0);
            known.succeeded(ALICE);
        }
        onDay(99 * 0.9 + 30);
        assertThat(instance().contains(ALICE)).isTrue();
        onDay(99 * 0.9 + 31);
        assertThat(instance().contains(ALICE)).isFalse();
    }

    @Test
    void loginsWithinAnHourAskTheStoreOnce() {
        known.succeeded(ALICE);
        int calls = store.calls;

        onDay(0.04);
        known.succeeded(ALICE);
        assertThat(known.contains(ALICE)).isTrue();

        assertThat(store.calls).isEqualTo(calls);
    }

    @Test
    void nothingIsRememberedAfterForgetting() {
        known.succeeded(ALICE);
        assertThat(known.isRemembered(ALICE)).isTrue();

        known.forget();

        assertThat(known.isRemembered(ALICE)).isFalse();
    }
}
