package dev.ratelimit.store.sqlite;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.UnreachedStoreException;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.support.Micros;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps state in an SQLite file that several processes may share. The schema must be there: see
 * {@code dev.ratelimit.schema}.
 *
 * <ol>
 *   <li>{@code BEGIN IMMEDIATE}: from here on no other process writes.
 *   <li>The clock is read.
 *   <li>The rows of the group are read as they are needed, and decided in Java.
 *   <li>Changed rows are written.
 *   <li>{@code COMMIT}.
 * </ol>
 *
 * One connection writes, under a lock. After an error it is closed, and the next group opens another. If the file is deleted
 * or replaced meanwhile, groups fail until the new file is ready: see {@link SqliteFile#createdAgainBy}.
 */
public final class SqliteLimitStore implements LimitStore {

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private final SqliteFile file;
    private final InstantSource clock;
    private final @Nullable InstantSource givenClock;
    private final ReentrantLock lock = new ReentrantLock();
    private final LostFile lostFile;
    private @Nullable SqliteSession session;
    private final SqlitePruning pruning = new SqlitePruning();
    private boolean closed;

    public SqliteLimitStore(SqliteFile file) {
        this(file, InstantSource.system(), null);
    }

    /**
     * @param clock the time; all processes that share the file must agree on it
     */
    public SqliteLimitStore(SqliteFile file, InstantSource clock) {
        this(file, clock, clock);
    }

    private SqliteLimitStore(SqliteFile file, InstantSource clock, @Nullable InstantSource givenClock) {
        this.givenClock = givenClock;
        this.file = file;
        this.lostFile = new LostFile(file);
        this.clock = clock;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        lock.lock();
        try {
            SqliteSession writer = session();
            boolean committing = false;
            try {
                writer.begin();
                writer.fetch(group);
                List<Answer> answers = new GroupArithmetic(writer, Micros.of(clock.instant())).decide(group);
                committing = true;
                writer.commit();
                return answers;
            } catch (SqliteSession.Failure e) {
                throw failed(e.error(), committing);
            } catch (SQLException e) {
                throw failed(e, committing);
            } catch (RuntimeException | Error e) {
                closeSession(); // which rolls back: an open transaction would lock out every other process
                throw e;
            }
        } finally {
            lock.unlock();
        }
    }

    /** It waits for other processes no longer than the busy timeout of the file; a long one is not in time. */
    @Override
    public boolean answersInTime() {
        return file.busyTimeout().compareTo(LONGEST_WAIT) <= 0;
    }

    @Override
    public @Nullable InstantSource clock() {
        return givenClock;
    }

    @Override
    public Pruned prune(long keepMicros) {
        lock.lock();
        try {
            if (closed) {
                return Pruned.NOTHING_WHILE_BUSY;
            }
            SqliteSession writer = session();
            try {
                writer.waitForOthers(Duration.ZERO);
                Pruned pruned = pruning.step(writer.connection(), Micros.of(clock.instant()) - keepMicros);
                writer.waitForOthers(file.busyTimeout());
                return pruned;
            } catch (SQLException e) {
                closeSession(); // which rolls back
                if (SqlitePruning.isBusy(e)) {
                    return Pruned.NOTHING_WHILE_BUSY;
                }
                throw new LimitStoreException(
                        "SQLite at " + file.path() + " could not be pruned: " + e.getMessage(), e);
            }
        } finally {
            lock.unlock();
        }
    }

    private SqliteSession session() {
        if (closed) {
            throw new LimitStoreException("the store is closed", new IllegalStateException("closed"));
        }
        if (session != null && lostFile.isLost(Micros.of(clock.instant()))) {
            closeSession();
        }
        if (session == null) {
            lostFile.requireReady();
            lostFile.opening();
            try {
                session = new SqliteSession(connect());
            } catch (SQLException e) {
                throw failed(e, false);
            }
        }
        return session;
    }

    Connection connect() throws SQLException {
        Connection connection = file.stateDataSource().getConnection();
        DatabaseProduct.of(connection);
        SqliteFile.lengthenLog(connection);
        return connection;
    }

    /**
     * @param committing whether it may be stored
     */
    private LimitStoreException failed(SQLException cause, boolean committing) {
        closeSession(); // which rolls back
        String hint = String.valueOf(cause.getMessage()).contains("no such table")
                ? "; Schema.migrate has not been run on this file"
                : "";
        String message = "SQLite at " + file.path() + " failed: " + cause.getMessage() + hint;
        return committing ? new LimitStoreException(message, cause) : new UnreachedStoreException(message, cause);
    }

    private void closeSession() {
        if (session != null) {
            session.close();
            session = null;
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            closeSession();
        } finally {
            lock.unlock();
        }
    }
}
