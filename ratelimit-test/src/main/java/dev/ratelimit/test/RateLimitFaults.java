package dev.ratelimit.test;

import dev.ratelimit.setting.Durations;
import dev.ratelimit.store.LimitStoreException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Makes the store fail: inject it into your test. Each test starts with a store that works. Safe for use by many threads.
 *
 * <pre>{@code
 * faults.storeIsDown();
 * assertThat(mvc.get().uri("/api/posts")).hasStatus(503); // with on-failure: closed
 * }</pre>
 */
public final class RateLimitFaults {

    private final Runnable forgetFailures;
    private boolean down;
    private Duration delay = Duration.ZERO;

    /** Counts the tests: a call that one of them has made slow must not reach the store in the next. */
    private int test;

    /**
     * @param forgetFailures makes the limiter ask the store again at once
     */
    RateLimitFaults(Runnable forgetFailures) {
        this.forgetFailures = forgetFailures;
    }

    /** From now on every call of the store fails. */
    public synchronized void storeIsDown() {
        down = true;
    }

    /** From now on the store answers so late. If that is longer than {@code ratelimit.store.deadline}, requests go on without. */
    public synchronized void storeAnswersIn(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("The store cannot answer in " + time + "; write a time of zero or more");
        }
        down = false;
        delay = time;
    }

    /**
     * From now on the store answers so late.
     *
     * @param time as in the configuration, such as {@code 200ms}
     */
    public void storeAnswersIn(String time) {
        storeAnswersIn(Durations.parse(time));
    }

    /** The store works again, and is asked with the next request. */
    public void storeIsUp() {
        works();
        forgetFailures.run();
    }

    private synchronized void works() {
        down = false;
        delay = Duration.ZERO;
        notifyAll();
    }

    synchronized void startTest() {
        test++;
        works();
    }

    synchronized boolean isSlow() {
        return !delay.isZero();
    }

    /** Fails or waits, as the test wants it. */
    synchronized void beforeCall() {
        int calledIn = test;
        try {
            await(System.nanoTime() + delay.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LimitStoreException("interrupted while the store was slow", e);
        }
        if (calledIn != test) {
            throw failure("the test that made the store slow is over");
        }
        if (down) {
            throw failure("the test has called storeIsDown()");
        }
    }

    /** Until that moment of {@link System#nanoTime()}, or until the store is no longer slow. */
    private void await(long end) throws InterruptedException {
        for (long left = end - System.nanoTime(); left > 0 && !delay.isZero(); left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    private static LimitStoreException failure(String why) {
        return new LimitStoreException(why, new IllegalStateException(why));
    }
}
