package dev.ratelimit.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.util.Credentials;
import com.zaxxer.hikari.util.DriverDataSource;
import com.zaxxer.hikari.util.PropertyElf;
import com.zaxxer.hikari.util.UtilityElf;
import dev.ratelimit.support.DaemonThreads;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Opens the connections of a pool, and keeps trying while the database is away. HikariCP pauses after each failure, in the
 * end for five seconds: so long a database that is back would not be used. Here the pause stays short.
 *
 * <ol>
 *   <li>Before {@link #keepTrying()}, at the start of the application, a failure is reported at once.
 *   <li>Afterwards a failed attempt is repeated after a short pause.
 *   <li>An attempt that hangs, as on a network that drops packets, is left to end by itself. Another one starts beside it.
 *   <li>Wrong credentials are reported to HikariCP. It asks for newer ones, and its long pause spares the database.
 * </ol>
 */
final class ReconnectingDataSource implements DataSource {

    /** Short beside a second, and long enough not to flood the log of a database that is starting. */
    static final Duration PAUSE = Duration.ofMillis(200);

    private static final Duration HANGS_AFTER = Duration.ofMillis(500);

    /** The driver gives up an attempt after ten seconds. */
    private static final int MOST_UNDER_WAY = 20;

    /** The class of SQL states for credentials that are refused. */
    private static final String INVALID_AUTHORIZATION = "28";

    private static final String NO_ANSWER = "the database does not answer";

    private static final ThreadFactory THREADS = DaemonThreads.named("ratelimit-connect");

    private final DataSource database;
    private final Duration pause;
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile boolean keepsTrying;
    private volatile @Nullable String lastFailure;

    ReconnectingDataSource(DataSource database) {
        this(database, PAUSE);
    }

    ReconnectingDataSource(DataSource database, Duration pause) {
        this.database = database;
        this.pause = pause;
    }

    /** Opens the connections that the configuration describes, in the same way as HikariCP would. */
    static ReconnectingDataSource of(HikariConfig config) {
        DataSource given = config.getDataSource();
        if (given instanceof ReconnectingDataSource ofAnEarlierAttempt) {
            return ofAnEarlierAttempt;
        }
        if (given != null) {
            return new ReconnectingDataSource(given);
        }
        String className = config.getDataSourceClassName();
        if (className != null) {
            DataSource created = UtilityElf.createInstance(className, DataSource.class);
            PropertyElf.setTargetFromProperties(created, config.getDataSourceProperties());
            return new ReconnectingDataSource(created);
        }
        String url = String.valueOf(config.getJdbcUrl());
        try {
            return new ReconnectingDataSource(new DriverDataSource(
                    url,
                    config.getDriverClassName(),
                    config.getDataSourceProperties(),
                    config.getUsername(),
                    config.getPassword()));
        } catch (RuntimeException e) {
            throw new MissingDriverException(product(url), e);
        }
    }

    /** The part of a JDBC URL that names the product: the rest may contain a password. */
    private static String product(String url) {
        String[] parts = url.split(":", 3);
        return parts.length < 2 ? "the JDBC URL" : parts[0] + ":" + parts[1];
    }

    /** From here on, an attempt to connect ends when the database is back. */
    void keepTrying() {
        keepsTrying = true;
    }

    /** Connects once, in the same way as HikariCP does, but never waits longer than that. */
    Connection connect(Credentials credentials, Duration longest) throws SQLException {
        return open(() -> {
            CompletableFuture<Connection> opened = new CompletableFuture<>();
            try {
                CompletableFuture<@Nullable Void> attempt = start(
                        () -> credentials.getUsername() == null
                                ? database.getConnection()
                                : database.getConnection(credentials.getUsername(), credentials.getPassword()),
                        opened);
                Object unused = attempt.get(longest.toMillis(), TimeUnit.MILLISECONDS);
                return opened.get();
            } catch (TimeoutException e) {
                throw new SQLTransientConnectionException(NO_ANSWER, e);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof SQLException failure ? failure : e;
            } finally {
                opened.cancel(false);
            }
        });
    }

    @Override
    public Connection getConnection() throws SQLException {
        return open(database::getConnection);
    }

    @Override
    public Connection getConnection(@Nullable String username, @Nullable String password) throws SQLException {
        return open(() -> database.getConnection(username, password));
    }

    private Connection open(Callable<Connection> connect) throws SQLException {
        try {
            return keepsTrying ? openAtLast(connect) : connect.call();
        } catch (SQLException | RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLTransientConnectionException("interrupted while connecting to the database", e);
        } catch (Exception e) {
            throw new SQLTransientConnectionException("cannot connect to the database: " + e.getMessage(), e);
        }
    }

    private Connection openAtLast(Callable<Connection> connect)
            throws SQLException, InterruptedException, ExecutionException {
        CompletableFuture<Connection> opened = new CompletableFuture<>();
        CompletableFuture<@Nullable Void> attempt = start(connect, opened);
        try {
            while (true) {
                try {
                    Object unused =
                            CompletableFuture.anyOf(attempt, opened).get(HANGS_AFTER.toMillis(), TimeUnit.MILLISECONDS);
                    lastFailure = null;
                    return opened.get();
                } catch (TimeoutException e) {
                    lastFailure = NO_ANSWER;
                } catch (ExecutionException e) {
                    Throwable failure = Objects.requireNonNull(e.getCause());
                    lastFailure = failure.getMessage();
                    reportWrongCredentials(failure);
                    Thread.sleep(pause.toMillis());
                }
                if (underWay.get() < MOST_UNDER_WAY) {
                    attempt = start(connect, opened);
                }
            }
        } finally {
            opened.cancel(false); // an attempt that succeeds later closes its connection
        }
    }

    /** Fails if the attempt does. A connection that nobody waits for any more is closed. */
    private CompletableFuture<@Nullable Void> start(
            Callable<Connection> connect, CompletableFuture<Connection> opened) {
        CompletableFuture<@Nullable Void> attempt = new CompletableFuture<>();
        underWay.incrementAndGet();
        THREADS.newThread(() -> {
                    try {
                        Connection connection = connect.call();
                        if (!opened.complete(connection)) {
                            connection.close();
                        }
                        attempt.complete(null);
                    } catch (Exception | LinkageError e) {
                        attempt.completeExceptionally(e);
                    } finally {
                        underWay.decrementAndGet();
                    }
                })
                .start();
        return attempt;
    }

    /** Why there is no connection; {@code null} after a success. */
    @Nullable
    String lastFailure() {
        return lastFailure;
    }

    private static void reportWrongCredentials(Throwable failure) throws SQLException {
        if (failure instanceof SQLException e
                && e.getSQLState() != null
                && e.getSQLState().startsWith(INVALID_AUTHORIZATION)) {
            throw e;
        }
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return database.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter writer) throws SQLException {
        database.setLogWriter(writer);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        database.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return database.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getLogger(Logger.GLOBAL_LOGGER_NAME);
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return type.isInstance(database) ? type.cast(database) : database.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(database) || database.isWrapperFor(type);
    }
}
