package dev.ratelimit.data;

import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.Micros;
import dev.ratelimit.support.OncePerMinute;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * The thread that keeps {@link StoredPolicies} up to date: in every poll interval, after a notification, and when a version
 * expires. It also writes the uses of API keys and quotas.
 */
final class ChangePoller implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ChangePoller.class);

    private static final Duration USES_ARE_WRITTEN = Duration.ofSeconds(10);
    private static final long SHORTEST_WAIT = 1_000;
    private static final Duration END_IS_AWAITED = Duration.ofSeconds(5);

    /** How often to retry at least, however long the poll interval is. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final StoredPolicies policies;
    private final Duration interval;
    private final Semaphore wake = new Semaphore(0);
    private final Thread thread;
    private volatile boolean closed;
    private boolean started;
    private boolean failing;
    private final OncePerMinute failures = new OncePerMinute();
    private long polledAt = System.nanoTime();
    private long usesWrittenAt = System.nanoTime();

    /**
     * @param started whether everything was read; otherwise it is read as soon as the database is available
     */
    ChangePoller(StoredPolicies policies, Duration interval, boolean started) {
        this.policies = policies;
        this.interval = interval;
        this.started = started;
        this.thread = DaemonThreads.named("ratelimit-changes").newThread(this::poll);
    }

    void start() {
        thread.start();
    }

    /** Something has changed: the next poll is now. */
    void wake() {
        wake.release();
    }

    private void poll() {
        while (!closed) {
            boolean woken;
            try {
                woken = wake.tryAcquire(untilNext(), TimeUnit.MICROSECONDS);
                wake.drainPermits();
            } catch (InterruptedException e) {
                break;
            }
            if (!closed && started) {
                keepUp(woken);
            } else if (!closed) {
                startLater();
            }
        }
    }

    /** The time to the next poll, write of uses or expiry, in microseconds. */
    private long untilNext() {
        long wait = Math.min(Micros.of(interval), Micros.of(started ? USES_ARE_WRITTEN : RETRY));
        Instant expiry = policies.effective().nextExpiry();
        return expiry.equals(Instant.MAX)
                ? wait
                : Math.min(wait, Math.max(SHORTEST_WAIT, Micros.of(Duration.between(now(), expiry))));
    }

    /** An unavailable database fails quietly: the startup has reported it. */
    private void startLater() {
        try {
            policies.startLater();
            started = true;
            log.info("Applying the limits and rules that are stored in {}", policies.database());
        } catch (DataAccessException | TransactionException e) {
            log.debug("Could not read limits and rules from {} yet; retrying", policies.database(), e);
        } catch (RuntimeException e) {
            if (failures.mayTell("start")) {
                log.error(
                        "Could not read limits and rules from {}; applying the configured ones and retrying: {}",
                        policies.database(),
                        LogText.of(e.getMessage()));
            }
        }
    }

    /** Spring says only that there is no connection. */
    private static String reason(Throwable failure) {
        Throwable cause = failure instanceof DataAccessException wrapped ? wrapped.getMostSpecificCause() : failure;
        return LogText.of(cause.getMessage());
    }

    private void keepUp(boolean woken) {
        try {
            if (woken
                    || failing
                    || hasPassed(interval, polledAt)
                    || !policies.effective().nextExpiry().isAfter(now())) {
                polledAt = System.nanoTime();
                policies.refresh();
            }
            if (hasPassed(USES_ARE_WRITTEN, usesWrittenAt)) {
                usesWrittenAt = System.nanoTime();
                policies.writeUses();
            }
            if (failing) {
                failing = false;
                log.info("Reading changes of limits and rules from {} again", policies.database());
            }
        } catch (RuntimeException | Error e) {
            if (!failing && !closed) {
                failing = true;
                log.warn(
                        "Could not read changes of limits and rules from {}; keeping the current ones and retrying: {}",
                        policies.database(),
                        reason(e));
            }
        }
    }

    private static boolean hasPassed(Duration time, long since) {
        return System.nanoTime() - since >= time.toNanos();
    }

    private Instant now() {
        return policies.clock().instant();
    }

    /** Ends the thread, and waits for it. */
    @Override
    public void close() {
        closed = true;
        wake();
        try {
            thread.join(END_IS_AWAITED.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
