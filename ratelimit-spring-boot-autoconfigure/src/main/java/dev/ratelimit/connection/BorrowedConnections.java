package dev.ratelimit.connection;

import dev.ratelimit.support.DaemonThreads;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Borrows connections from a pool of the application, and returns each as it was.
 *
 * <ol>
 *   <li>At most so many are borrowed at once; the others are left to the application.
 *   <li>A thread of our own asks the pool, which may take its time and may bind a connection to the transaction of the thread
 *       that asks.
 *   <li>Nobody waits for it longer than the deadline. A connection that comes later goes back at once.
 * </ol>
 */
final class BorrowedConnections extends AbstractDataSource implements LimiterConnections {

    private final DataSource pool;
    private final int most;
    private final Semaphore free;
    private final ExecutorService borrowers =
            Executors.newCachedThreadPool(DaemonThreads.numbered("ratelimit-borrower-"));
    private volatile Duration longestWait = PostgresSource.WAIT_AT_START;
    private volatile @Nullable Duration longestSilence;
    private volatile boolean neverPrepare;

    BorrowedConnections(DataSource pool, int most) {
        this.pool = pool;
        this.most = most;
        this.free = new Semaphore(most);
    }

    @Override
    public void setDeadline(Duration time) {
        longestWait = time;
    }

    @Override
    public void setLongestWait(Duration time) {
        longestWait = time;
    }

    @Override
    public void setLongestSilence(Duration time) {
        longestSilence = time;
    }

    @Override
    public boolean mayBeHeld() {
        return false;
    }

    /** The connections are not ours, so the setting of the application stays. */
    @Override
    public void prepareAtOnce() {}

    @Override
    public void neverPrepare() {
        neverPrepare = true;
    }

    @Override
    public Connection getConnection() throws SQLException {
        long until = System.nanoTime() + longestWait.toNanos();
        try {
            if (!free.tryAcquire(until - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw new SQLTransientConnectionException(
                        "all " + most + " connections that may be borrowed from the application are in use");
            }
            CompletableFuture<Connection> borrowed = new CompletableFuture<>();
            borrowers.execute(() -> borrow(borrowed));
            return lend(await(borrowed, until));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLTransientConnectionException("interrupted while waiting for a connection", e);
        } catch (RejectedExecutionException e) {
            throw new SQLTransientConnectionException("the limiter is closed", e);
        }
    }

    /** Gives its permit back, unless somebody takes the connection. */
    private void borrow(CompletableFuture<Connection> borrowed) {
        boolean taken = false;
        try {
            Connection connection = pool.getConnection();
            taken = borrowed.complete(connection);
            if (!taken) {
                connection.close();
            }
        } catch (SQLException | RuntimeException | Error e) {
            borrowed.completeExceptionally(e);
        } finally {
            if (!taken) {
                free.release();
            }
        }
    }

    private Connection await(CompletableFuture<Connection> borrowed, long until)
            throws SQLException, InterruptedException {
        try {
            return borrowed.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            refuse(borrowed, e);
            throw e;
        } catch (TimeoutException e) {
            refuse(borrowed, e);
            throw new SQLTransientConnectionException("the pool of the application has no free connection", e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new SQLTransientConnectionException(
                    "the pool of the application gave no connection: " + cause.getMessage(), cause);
        }
    }

    /** The borrower returns the connection, or has just handed it over. */
    private void refuse(CompletableFuture<Connection> borrowed, Exception reason) throws SQLException {
        if (!borrowed.completeExceptionally(reason) && !borrowed.isCompletedExceptionally()) {
            lend(borrowed.join()).close();
        }
    }

    private Connection lend(Connection connection) throws SQLException {
        Connection lent = BorrowedConnection.of(connection, neverPrepare, free::release);
        Silence.bound(lent, longestSilence);
        return lent;
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        throw new SQLTransientConnectionException("connections are borrowed as the application has them");
    }

    /** Nothing is kept open, so there is nothing to open first. */
    @Override
    public void onEachConnection(Runnable work, long end) {
        work.run();
    }

    @Override
    public @Nullable PoolStatus status() {
        return null;
    }

    /** The pool belongs to the application. */
    @Override
    public void close() {
        borrowers.shutdown();
    }
}
