package dev.ratelimit.store.redis;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives charges back that a failed operation has left on one server while another one failed. It is tried a few times. A charge
 * that cannot be given back stays until it expires: the limit then grants less, never more.
 */
final class Refunds implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Refunds.class);

    private static final int MOST_WAITING = 1_000;

    private static final int TRIES = 3;

    private static final long PAUSE_MILLIS = 200;

    private final ThreadPoolExecutor thread = new ThreadPoolExecutor(
            0,
            1,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MOST_WAITING),
            DaemonThreads.numbered("ratelimit-redis-refund-"));

    private final Consumer<Operation> store;

    Refunds(Consumer<Operation> store) {
        this.store = store;
    }

    void giveBack(List<Demand> owed) {
        for (Demand demand : owed) {
            try {
                thread.execute(() -> giveBack(demand));
            } catch (RejectedExecutionException e) {
                log.debug(
                        "Leaving a charge on {}: too many wait",
                        LogText.of(demand.key().toString()));
            }
        }
    }

    private void giveBack(Demand demand) {
        for (int i = 0; i < TRIES; i++) {
            try {
                store.accept(new Operation(Kind.SETTLE, List.of(demand)));
                return;
            } catch (LimitStoreException e) {
                log.debug("Could not give a charge back: {}", LogText.of(e.getMessage()));
            }
            try {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS << i);
            } catch (InterruptedException e) {
                return; // closed
            }
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
