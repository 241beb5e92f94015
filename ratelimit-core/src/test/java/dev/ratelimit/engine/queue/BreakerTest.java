package dev.ratelimit.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BreakerTest {

    private static final Duration LONG = Duration.ofHours(1);
    private static final UndecidedException FAILED = UndecidedException.failed(new IllegalStateException("on fire"));

    @Test
    void oneFailureDoesNotSwitchTheLimitsOff() {
        Breaker breaker = new Breaker(LONG, LONG);

        breaker.failed(FAILED, System.nanoTime());

        assertThatCode(breaker::check).doesNotThrowAnyException();
    }

    @Test
    void storeThatKeepsFailingIsLeftAlone() {
        Breaker breaker = new Breaker(LONG, Duration.ZERO);

        breaker.failed(FAILED, System.nanoTime());

        assertThatThrownBy(breaker::check).hasCause(FAILED.getCause());
    }

    /** The failure itself may have changed something; a request that is refused has not. */
    @Test
    void refusedRequestHasChangedNothing() {
        Breaker breaker = new Breaker(LONG, Duration.ZERO);

        breaker.failed(FAILED, System.nanoTime());

        assertThat(FAILED.isSurelyUndone()).isFalse();
        assertThatThrownBy(breaker::check)
                .isInstanceOfSatisfying(
                        UndecidedException.class,
                        refused -> assertThat(refused.isSurelyUndone()).isTrue());
    }

    @Test
    void answerClosesItAgain() {
        Breaker breaker = new Breaker(LONG, Duration.ZERO);
        breaker.failed(FAILED, System.nanoTime());

        breaker.succeeded();

        assertThatCode(breaker::check).doesNotThrowAnyException();
    }

    @Test
    void oneRequestAtATimeTriesAgain() throws Exception {
        Breaker breaker = new Breaker(Duration.ofMillis(20), Duration.ZERO);
        breaker.failed(FAILED, System.nanoTime());

        Awaitility.await().pollInterval(Duration.ofMillis(1)).ignoreExceptions().until(() -> {
            breaker.check();
            return true;
        });

        assertThatThrownBy(breaker::check).hasCause(FAILED.getCause());
    }

    /** One request each half second tries, so a store that is back is asked at most half a second later. */
    @ParameterizedTest
    @ValueSource(longs = {1, 5, 12, 20, 3_600})
    void storeIsTriedTwiceASecondHoweverLongItIsAway(long seconds) throws Exception {
        AtomicLong nanos = new AtomicLong(42);
        Breaker breaker = new Breaker(Breaker.INTERVAL, Duration.ofMillis(100), nanos::get);
        breaker.failed(FAILED, nanos.get());
        long longest = 0;
        long lastTry = nanos.get();
        for (long end = nanos.get() + TimeUnit.SECONDS.toNanos(seconds); nanos.get() < end; ) {
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(10));
            if (isAsked(breaker)) {
                longest = Math.max(longest, nanos.get() - lastTry);
                lastTry = nanos.get();
                breaker.failed(FAILED, nanos.get());
            }
        }

        assertThat(Duration.ofNanos(longest)).isBetween(Duration.ofMillis(100), Duration.ofMillis(510));
        assertThat(Duration.ofNanos(nanos.get() - lastTry)).isLessThanOrEqualTo(Duration.ofMillis(510));
    }

    /** A request over several parts must not use up the try of one part in vain. */
    @Test
    void refusingWhileOpenTriesNothing() throws Exception {
        AtomicLong nanos = new AtomicLong(42);
        Breaker breaker = new Breaker(Breaker.INTERVAL, Duration.ZERO, nanos::get);
        breaker.refuseIfOpen();
        breaker.failed(FAILED, nanos.get());
        assertThatThrownBy(breaker::refuseIfOpen).hasCause(FAILED.getCause());

        nanos.addAndGet(Breaker.INTERVAL.toNanos());
        breaker.refuseIfOpen();
        breaker.refuseIfOpen();

        assertThat(breaker.isOpen()).isFalse();
        breaker.check();
        assertThatThrownBy(breaker::check).hasCause(FAILED.getCause());
        assertThatThrownBy(breaker::refuseIfOpen).hasCause(FAILED.getCause());
    }

    private static boolean isAsked(Breaker breaker) {
        try {
            breaker.check();
            return true;
        } catch (UndecidedException e) {
            return false;
        }
    }

    @Test
    void overloadIsNoFailure() {
        Breaker breaker = new Breaker(LONG, Duration.ZERO);

        breaker.failed(UndecidedException.overloaded(5), System.nanoTime());

        assertThatCode(breaker::check).doesNotThrowAnyException();
    }

    /** The store answers all the time, but slowly; nearly every caller has left before its answer comes. */
    @Test
    void floodDoesNotSwitchTheLimitsOff() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        LimitStore slow = slow(over);
        Limit limit = Limit.named("hot")
                .algorithm(new FixedWindow(5, Duration.ofDays(365)))
                .build();
        StoreRateLimiter limiter = StoreRateLimiter.builder(slow, Limits.of(limit))
                .grouping(new Grouping(1, 4, 10_000, Duration.ofSeconds(1)))
                .build();
        AtomicInteger skipped = new AtomicInteger();
        ExecutorService callers = Executors.newFixedThreadPool(400);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(4);
        for (int i = 0; i < 400; i++) {
            callers.execute(() -> {
                while (System.nanoTime() - end < 0) {
                    long start = System.nanoTime();
                    Decision decision = limiter.decide(
                            LimitRequest.of(Subject.user("flood"), "hot").onFailure(FailurePolicy.OPEN));
                    if (decision.outcome() == Outcome.FAILED && System.nanoTime() - start < 50_000_000) {
                        skipped.incrementAndGet(); // refused by the breaker, without having waited
                    }
                }
            });
        }
        callers.shutdown();
        assertThat(callers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        over.countDown();
        limiter.close();

        assertThat(skipped).hasValue(0);
    }

    private static LimitStore slow(CountDownLatch over) {
        MemoryLimitStore memory = new MemoryLimitStore();
        return new LimitStore() {
            @Override
            public List<Answer> decide(List<Operation> group) {
                try {
                    over.await(20, TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return memory.decide(group);
            }

            @Override
            public Pruned prune(long keepMicros) {
                return memory.prune(keepMicros);
            }

            @Override
            public void close() {}
        };
    }
}
