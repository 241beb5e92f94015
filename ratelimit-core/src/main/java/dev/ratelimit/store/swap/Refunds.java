package dev.ratelimit.store.swap;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives charges back that could not be given back at once, on a thread of its own. It tries a few times, as long as the store
 * has surely not made the refund: one that is made twice would admit too much. A charge that is never given back stays, which
 * admits nothing extra. Thread-safe.
 */
public final class Refunds implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Refunds.class);

    private static final int MOST_WAITING = 10_000;
    private static final List<Duration> PAUSES =
            List.of(Duration.ZERO, Duration.ofMillis(200), Duration.ofSeconds(1), Duration.ofSeconds(5));

    private final Consumer<Operation> giveBack;
    private final ScheduledThreadPoolExecutor thread;

    /**
     * @param thread its name
     * @param giveBack asks the store for it
     */
    public Refunds(String thread, Consumer<Operation> giveBack) {
        this.giveBack = giveBack;
        this.thread = new ScheduledThreadPoolExecutor(1, DaemonThreads.named(thread));
        this.thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.thread.setKeepAliveTime(30, TimeUnit.SECONDS);
        this.thread.allowCoreThreadTimeOut(true);
    }

    /**
     * @param refund takes charges back
     */
    public void giveBackLater(Operation refund) {
        schedule(refund, 0);
    }

    /** Makes a refund again that was surely not made. */
    public void again(Operation refund) {
        schedule(refund, 1);
    }

    private void schedule(Operation refund, int tries) {
        if (tries == PAUSES.size() || thread.getQueue().size() >= MOST_WAITING) {
            log.warn(
                    "Leaving a charge of {} that could not be given back; it has less until the limit renews",
                    subject(refund));
            return;
        }
        try {
            ScheduledFuture<?> unused = thread.schedule(
                    () -> giveBack(refund, tries), PAUSES.get(tries).toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("Leaving a charge: the store is closed", e);
        }
    }

    private void giveBack(Operation refund, int tries) {
        try {
            giveBack.accept(refund);
        } catch (RuntimeException e) {
            if (e instanceof LimitStoreException failure && failure.isSurelyUndone()) {
                schedule(refund, tries + 1);
            } else {
                log.warn("Leaving a charge of {}: {}", subject(refund), LogText.of(e.getMessage()));
            }
        }
    }

    private static String subject(Operation refund) {
        return LogText.of(refund.demands().get(0).key().subject());
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
