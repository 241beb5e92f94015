package dev.ratelimit.connection;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A store with the connections that were opened for it alone, and that are closed with it. */
public final class PooledLimitStore extends ForwardingLimitStore {

    /**
     * The time after an answer in which a connection is given out untested. Later HikariCP tests it first, which may
     * take longer than a request can wait. It does so after half a second.
     */
    private static final Duration STILL_WARM = Duration.ofMillis(400);

    private final LimiterConnections connections;
    private volatile long answeredAt = System.nanoTime() - STILL_WARM.toNanos();

    public PooledLimitStore(LimitStore store, LimiterConnections connections) {
        super(store);
        this.connections = connections;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        List<Answer> answers = super.decide(group);
        answeredAt = System.nanoTime();
        return answers;
    }

    /**
     * Opens all connections, and does the work once with each of them: each prepares its own statements.
     *
     * @param work uses this store
     * @param end when to leave the rest of them, in the time of {@link System#nanoTime()}
     */
    public void onEachConnection(Runnable work, long end) {
        try {
            connections.onEachConnection(work, end);
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL has no connection (" + e.getMessage() + ")", e);
        }
    }

    /** The use of its connections now; {@code null} if they are the application's. */
    public @Nullable PoolStatus poolStatus() {
        return connections.status();
    }

    /** Only while it does: the first request after a pause, or after a failure, is left to a worker. */
    @Override
    public boolean answersInTime() {
        return super.answersInTime() && System.nanoTime() - answeredAt < STILL_WARM.toNanos();
    }

    @Override
    public void close() {
        super.close();
        connections.close();
    }
}
