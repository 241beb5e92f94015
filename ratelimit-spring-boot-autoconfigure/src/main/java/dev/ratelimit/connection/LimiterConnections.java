package dev.ratelimit.connection;

import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The limiter's connections to PostgreSQL. */
public sealed interface LimiterConnections extends DataSource, AutoCloseable
        permits BoundedWaitPool, BorrowedConnections {

    /** From here on, nobody waits longer than that; before, at the start of the application, there is time. */
    void setDeadline(Duration time);

    /**
     * From here on, nobody waits longer than that for a connection, which may have to be opened first. Operators must not wait for a
     * database that is gone as long as the start of an application may.
     */
    void setLongestWait(Duration time);

    /**
     * From here on, nobody waits longer than that for an answer of the server, so that one that is frozen holds no thread for
     * good. Longer than any query may take.
     */
    void setLongestSilence(Duration time);

    /** Whether a connection may be held all the time; otherwise the application may need it. */
    boolean mayBeHeld();

    /** From here on, the server keeps every statement prepared, unless the application has set that for its driver. */
    void prepareAtOnce();

    /** From here on, the server keeps no statement prepared. */
    void neverPrepare();

    /**
     * Opens all connections that are its own, and does the work once with each of them.
     *
     * @param end when to leave the rest of them, in the time of {@link System#nanoTime()}
     */
    void onEachConnection(Runnable work, long end) throws SQLException;

    /** The use of the pool now; {@code null} if it is the application's. */
    @Nullable
    PoolStatus status();

    @Override
    void close();
}
