package dev.ratelimit.data;

import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives notifications of committed changes, on one connection that is held all the time. Not for use behind a transaction
 * pooler: none would arrive, and the server's connection would go on listening for its next user. The only class that needs the PostgreSQL driver.
 */
final class PostgresNotifications implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PostgresNotifications.class);

    /** The longest time to notice that it is closed. Waiting puts no load on the database. */
    private static final Duration WAIT = Duration.ofMillis(500);

    /** How often the connection is checked: one that is cut off reports nothing. */
    private static final Duration CHECK = Duration.ofSeconds(30);

    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final DataSource dataSource;
    private final String schema;
    private final Runnable heard;
    private final CountDownLatch closed = new CountDownLatch(1);

    private PostgresNotifications(DataSource dataSource, String schema, Runnable heard) {
        this.dataSource = dataSource;
        this.schema = schema;
        this.heard = heard;
    }

    /**
     * @param heard runs when something has changed, or may have
     */
    static PostgresNotifications start(DataSource dataSource, String schema, Runnable heard) {
        PostgresNotifications notifications = new PostgresNotifications(dataSource, schema, heard);
        DaemonThreads.named("ratelimit-notifications")
                .newThread(notifications::run)
                .start();
        return notifications;
    }

    private void run() {
        Duration pause = SHORTEST_PAUSE;
        boolean failing = false;
        while (!isClosed(Duration.ZERO)) {
            long start = System.nanoTime();
            try {
                listen();
            } catch (SQLException | RuntimeException | LinkageError e) {
                // A LinkageError if the connections come from another driver and this one is missing.
                if (!failing && closed.getCount() > 0) {
                    failing = true;
                    log.info(
                            "Could not listen for changes of limits and rules on PostgreSQL; polling until it works: {}",
                            LogText.of(e.getMessage()));
                }
            }
            if (System.nanoTime() - start > LONGEST_PAUSE.toNanos()) {
                pause = SHORTEST_PAUSE;
                failing = false;
            }
            if (isClosed(pause)) {
                return;
            }
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause.multipliedBy(2);
        }
    }

    private void listen() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(true); // a transaction that stays open hears nothing
            String channel = channel(statement);
            statement.execute("LISTEN \"" + channel + "\"");
            try {
                heard.run(); // something may have changed before
                hear(connection);
            } finally {
                if (connection.isValid(1)) {
                    statement.execute("UNLISTEN \"" + channel + "\"");
                }
            }
        }
    }

    private String channel(Statement statement) throws SQLException {
        try (ResultSet channel = statement.executeQuery("SELECT \"" + schema + "\".rate_limit_channel()")) {
            if (!channel.next()) {
                throw new SQLException("there is no notification channel of schema " + schema);
            }
            return channel.getString(1);
        }
    }

    private void hear(Connection connection) throws SQLException {
        PGConnection postgres = connection.unwrap(PGConnection.class);
        long checkedAt = System.nanoTime();
        while (!isClosed(Duration.ZERO)) {
            PGNotification[] notifications = postgres.getNotifications((int) WAIT.toMillis());
            if (notifications != null && notifications.length > 0) {
                heard.run();
            }
            if (System.nanoTime() - checkedAt > CHECK.toNanos()) {
                checkedAt = System.nanoTime();
                if (!connection.isValid((int) CHECK.toSeconds())) {
                    throw new SQLException("the connection is gone");
                }
            }
        }
    }

    private boolean isClosed(Duration wait) {
        try {
            return closed.await(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Returns the connection a moment later. */
    @Override
    public void close() {
        closed.countDown();
    }
}
