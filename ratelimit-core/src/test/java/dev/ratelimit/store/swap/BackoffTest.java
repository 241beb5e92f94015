package dev.ratelimit.store.swap;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BackoffTest {

    private final AtomicLong time = new AtomicLong();
    private final List<Long> pauses = new ArrayList<>();

    private Backoff within(Duration bound) {
        return Backoff.within(bound, time::get, nanos -> {
            pauses.add(nanos);
            time.addAndGet(nanos);
        });
    }

    @Test
    void pausesFromTheSecondLossOnLongerEachTimeAndUpToABound() {
        Backoff backoff = within(Duration.ofHours(1));

        for (int i = 0; i < 12; i++) {
            assertThat(backoff.again()).isTrue();
        }

        assertThat(backoff.lost()).isEqualTo(12);
        assertThat(pauses).hasSize(11);
        long most = Duration.ofMillis(1).toNanos();
        for (long pause : pauses) {
            assertThat(pause).isBetween(most / 2, most);
            most = Math.min(2 * most, Duration.ofMillis(32).toNanos());
        }
    }

    /** A pause makes the values old that a lost try has returned. */
    @Test
    void inPairsATryFollowsAtOnceAfterTheOneBehindAPause() {
        Backoff backoff = Backoff.inPairsWithin(Duration.ofHours(1), Duration.ofMillis(1), time::get, pauses::add);

        List<Integer> pausesSoFar = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            assertThat(backoff.again()).isTrue();
            pausesSoFar.add(pauses.size());
        }

        assertThat(pausesSoFar).containsExactly(0, 1, 1, 2, 2, 3);
    }

    /** Without pauses, there would be a try every few hundred nanoseconds. */
    @Test
    void interruptEndsNoPause() {
        Backoff backoff = Backoff.within(Duration.ofMillis(50));
        Thread.currentThread().interrupt();
        boolean interrupted;
        try {
            while (backoff.again()) {
                assertThat(backoff.lost()).isLessThan(100);
            }
        } finally {
            interrupted = Thread.interrupted();
        }

        assertThat(interrupted).as("the caller learns of it").isTrue();
    }

    @Test
    void pausesAreRandom() {
        for (int i = 0; i < 40; i++) {
            Backoff backoff = within(Duration.ofHours(1));
            assertThat(backoff.again()).isTrue();
            assertThat(backoff.again()).isTrue();
        }

        assertThat(pauses.stream().distinct().count()).isGreaterThan(5);
    }

    @Test
    void endsWithTheTimeAndDoesNotPauseBeyondIt() {
        Backoff backoff = within(Duration.ofMillis(20));

        int tries = 0;
        while (backoff.again()) {
            tries++;
        }

        assertThat(tries).isBetween(3, 7);
        assertThat(time.get()).isLessThan(Duration.ofMillis(20).toNanos());
    }

    @Test
    void firstRepetitionFollowsAtOnceUnlessTheTimeIsOver() {
        assertThat(within(Duration.ofMillis(1)).again()).isTrue();
        Backoff late = within(Duration.ofMillis(1));
        time.addAndGet(Duration.ofMillis(2).toNanos());

        assertThat(late.again()).isFalse();
        assertThat(pauses).isEmpty();
    }
}
