package dev.ratelimit.test;

import dev.ratelimit.Durations;
import dev.ratelimit.store.LimitStoreException;
import java.time.Duration;

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
    private volatile boolean down;
    private volatile Duration delay = Duration.ZERO;

    /**
     * @param forgetFailures makes the limiter ask the store again at once
     */
    RateLimitFaults(Runnable forgetFailures) {
        this.forgetFailures = forgetFailures;
    }

    /** From now on every call of the store fails. */
    public void storeIsDown() {
        down = true;
    }

    /** From now on the store answers so late. If that is longer than {@code ratelimit.store.deadline}, requests go on without. */
    public void storeAnswersIn(Duration time) {
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
        clear();
        forgetFailures.run();
    }

    void clear() {
        down = false;
        delay = Duration.ZERO;
    }

    boolean isSlow() {
        return !delay.isZero();
    }

    /** Fails or waits, as the test wants it. */
    void beforeCall() {
        if (down) {
            IllegalStateException cause = new IllegalStateException("storeIsDown()");
            throw new LimitStoreException("the test has called storeIsDown()", cause);
        }
        Duration time = delay;
        if (time.isZero()) {
            return;
        }
        try {
            Thread.sleep(time.toMillis(), time.toNanosPart() % 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LimitStoreException("interrupted while the store was slow", e);
        }
    }
}
