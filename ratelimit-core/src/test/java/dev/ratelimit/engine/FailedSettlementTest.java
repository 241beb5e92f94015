package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.UnreachedStoreException;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Refunds while the store fails: one that is made twice would admit too much. */
@Timeout(60)
class FailedSettlementTest {

    private static final Duration PATIENT = Duration.ofSeconds(20);

    /** Long enough for a call, also on a busy machine. */
    private static final Duration SHORT = Duration.ofSeconds(1);

    private static final Subject ALICE = Subject.user("alice");
    private static final Subject BOB = Subject.user("bob");
    private static final Limit TEN = Limit.named("ten")
            .algorithm(new FixedWindow(10, Duration.ofHours(1)))
            .build();

    /** Fails before it decides, if it has a reason to. */
    private static final class RefusingStore extends ForwardingLimitStore {

        private volatile LimitStoreException reason;

        RefusingStore(LimitStore store) {
            super(store);
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            LimitStoreException refused = reason;
            if (refused != null) {
                throw refused;
            }
            return super.decide(group);
        }
    }

    private final MemoryLimitStore memory = new MemoryLimitStore(new SettableClock());

    private static StoreRateLimiter limiter(LimitStore store, Duration deadline) {
        return StoreRateLimiter.builder(store, Limits.of())
                .grouping(Grouping.DEFAULT.withDeadline(deadline))
                .build();
    }

    private long left() {
        try (StoreRateLimiter other = limiter(memory, PATIENT)) {
            return other.peek(LimitRequest.of(ALICE, TEN)).remaining();
        }
    }

    /** Two requests of Alice, so that a second refund of one would take back the other. */
    private static Reservation reserveTwice(StoreRateLimiter limiter) {
        Reservation one = limiter.reserve(LimitRequest.of(ALICE, TEN));
        assertThat(limiter.decide(ALICE, TEN).allowed()).isTrue();
        return one;
    }

    private static void assertIsOver(Reservation reservation) {
        assertThat(reservation.refund()).isFalse();
        assertThat(reservation.giveBack()).isFalse();
        assertThat(reservation.settle(0)).isFalse();
        assertThat(reservation.commit()).isFalse();
    }

    @Test
    void refundThatMayHaveBeenMadeIsNotMadeAgain() {
        SwitchedStore store = new SwitchedStore(memory);
        try (StoreRateLimiter limiter = limiter(store, PATIENT)) {
            Reservation one = reserveTwice(limiter);
            store.losesReplies(true);
            assertThat(one.refund()).isFalse();
            store.losesReplies(false);

            assertIsOver(one);

            assertThat(left()).isEqualTo(9);
        }
    }

    @Test
    void refundThatIsLateIsNotMadeAgain() {
        SwitchedStore store = new SwitchedStore(memory);
        CountDownLatch later = new CountDownLatch(1);
        try (StoreRateLimiter limiter = limiter(store, SHORT)) {
            Reservation one = reserveTwice(limiter);
            store.holdBefore(later);
            assertThat(one.refund()).isFalse();
            later.countDown();
            Awaitility.await().until(() -> left() == 9);

            assertIsOver(one);

            assertThat(left()).isEqualTo(9);
        }
    }

    @Test
    void refundThatNeverLeftTheQueueIsMadeAgain() {
        SwitchedStore store = new SwitchedStore(memory);
        CountDownLatch later = new CountDownLatch(1);
        try (StoreRateLimiter limiter = limiter(store, SHORT)) {
            Reservation one = reserveTwice(limiter);
            store.holdBefore(later);
            int calls = store.calls();
            CompletableFuture<Decision> ahead =
                    limiter.decideAsync(LimitRequest.of(BOB, TEN)).toCompletableFuture();
            Awaitility.await().until(() -> store.calls() > calls);
            assertThat(one.refund()).isFalse();
            later.countDown();
            ahead.join();

            Awaitility.await().until(one::refund);

            assertThat(left()).isEqualTo(9);
        }
    }

    static Stream<LimitStoreException> nothingWasChanged() {
        Exception cause = new IllegalStateException("a test");
        Set<StateKey> keys = Set.of(StateKey.of(ALICE, TEN.name()));
        return Stream.of(
                new UnreachedStoreException("no connection", cause),
                new LockedKeysException(keys, cause),
                new MovedKeysException(keys, List.of()));
    }

    @ParameterizedTest
    @MethodSource("nothingWasChanged")
    void refundThatWasSurelyNotMadeIsMadeAgain(LimitStoreException reason) {
        RefusingStore store = new RefusingStore(memory);
        try (StoreRateLimiter limiter = limiter(store, PATIENT)) {
            Reservation one = reserveTwice(limiter);
            store.reason = reason;
            assertThat(one.refund()).isFalse();
            assertThat(one.refund()).as("refused at once, or asked in vain").isFalse();
            store.reason = null;
            limiter.forgetEverything(); // else locked keys are left alone for a while

            assertThat(one.refund()).isTrue();

            assertThat(left()).isEqualTo(9);
        }
    }
}
