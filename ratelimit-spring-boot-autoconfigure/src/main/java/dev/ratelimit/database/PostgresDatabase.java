package dev.ratelimit.database;

import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.connection.PostgresSource;
import dev.ratelimit.connection.TransactionPooler;
import dev.ratelimit.connection.TransactionPooler.NoSecondConnectionException;
import dev.ratelimit.connection.UnusableDataSourceException;
import dev.ratelimit.database.StoreProperties.Mode;
import dev.ratelimit.database.StoreProperties.Postgresql;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.jdbc.PostgresEngine;
import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import dev.ratelimit.support.LogText;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A schema of a PostgreSQL database, with all that connections to it have in common. */
final class PostgresDatabase implements StateDatabase {

    private static final Logger log = LoggerFactory.getLogger(PostgresDatabase.class);

    /** Three reads of a screen are over before a browser gives up. */
    private static final Duration OPERATORS_WAIT = Duration.ofSeconds(3);

    /** Their queries are cancelled after 30 seconds. A server that does not even do that is frozen or out of reach. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(35);

    /** A pool of the application may have only one, and would keep the start waiting. */
    private static final Duration SECOND_CONNECTION_WAIT = Duration.ofSeconds(3);

    private final PostgresSource source;
    private final Postgresql settings;
    private final boolean migrates;
    private @Nullable Boolean transactionPooled;

    /**
     * @param migrates whether to create and migrate its tables; they are checked otherwise
     */
    PostgresDatabase(PostgresSource source, Postgresql settings, boolean migrates) {
        this.source = source;
        this.settings = settings;
        this.migrates = migrates;
    }

    Postgresql settings() {
        return settings;
    }

    @Override
    public LimitStore open(Duration deadline, @Nullable InstantSource clock) {
        return PostgresStores.open(this, deadline, clock);
    }

    @Override
    public int groupsAtOnce() {
        return 2;
    }

    /**
     * Connects to it, for work that operators wait for, and the dashboard with them: if the database is gone, it fails soon.
     *
     * @param name the name of the pool
     * @param idle how many connections to keep open, if they are its own
     * @param most how many connections to have at once
     * @param migrate whether its schema may be out of date
     */
    LimiterConnections openForOperators(String name, int idle, int most, boolean migrate) {
        LimiterConnections connections = open(name, idle, most);
        connections.setLongestWait(OPERATORS_WAIT);
        if (migrate) {
            try {
                migrate(connections);
            } catch (RuntimeException e) {
                connections.close();
                throw e;
            }
        }
        // Afterwards: a new index on a large table takes its time.
        connections.setLongestSilence(LONGEST_SILENCE);
        return connections;
    }

    /**
     * Connects to it.
     *
     * @param name the name of the pool
     * @param idle how many connections to keep open, if they are its own
     * @param most how many connections to have at once
     */
    LimiterConnections open(String name, int idle, int most) {
        LimiterConnections connections = source.open(name, idle, most);
        try {
            if (isTransactionPooled(connections)) {
                connections.neverPrepare();
            }
            return connections;
        } catch (UnsupportedDatabaseException e) {
            connections.close();
            throw new UnusableDataSourceException(e.getMessage() + ".", e);
        } catch (RuntimeException e) {
            connections.close();
            throw e;
        }
    }

    /** Brings its schema up to date, or requires that it is. */
    void migrate(LimiterConnections connections) {
        try {
            requireMode(PostgresEngine.of(connections));
            if (migrates) {
                Schema.migrate(connections, settings.schema());
            } else {
                Schema.require(connections, settings.schema());
            }
        } catch (UnsupportedDatabaseException e) {
            throw new UnusableDataSourceException(e.getMessage() + ".", e);
        }
    }

    private void requireMode(PostgresEngine engine) {
        if (!engine.obstacleToLocks().isEmpty() && settings.mode() == Mode.LOCK) {
            throw new UnsupportedDatabaseException("the database is " + engine + ", " + engine.obstacleToLocks()
                    + "; set ratelimit.store.postgresql.mode to swap");
        }
    }

    /** Whether nothing that belongs to a connection outlives its transaction. Known once a connection was opened. */
    synchronized boolean isTransactionPooled() {
        return Boolean.TRUE.equals(transactionPooled);
    }

    private synchronized boolean isTransactionPooled(LimiterConnections connections) {
        if (transactionPooled == null) {
            transactionPooled = isPooled(connections);
        }
        return transactionPooled;
    }

    private boolean isPooled(LimiterConnections connections) {
        try {
            return switch (settings.pooler()) {
                case NONE -> false;
                case TRANSACTION -> adapted("Using", connections);
                case AUTO -> isFound(connections) && adapted("Found", connections);
            };
        } catch (NoSecondConnectionException e) {
            log.warn(
                    "Could not find out whether a pooler shares connections to PostgreSQL by transaction, since there was no"
                            + " second connection ({}); expecting a pooler. Set ratelimit.store.postgresql.pooler to none or"
                            + " transaction, or allow more connections",
                    LogText.of(e.getMessage()));
            return true;
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL cannot be reached (" + e.getMessage() + ")", e);
        }
    }

    /** Tells what follows from a pooler. */
    private boolean adapted(String sign, LimiterConnections connections) throws SQLException {
        boolean hidden = TransactionPooler.isDriverHidden(connections);
        log.info(
                "{} PostgreSQL behind a transaction pooler (ratelimit.store.postgresql.pooler: {}): {}polling for changes of"
                        + " limits and rules instead of listening",
                sign,
                settings.pooler().keyword(),
                hidden ? "" : "preparing no statements on the server, and ");
        if (hidden) {
            log.warn(
                    "Prepared statements stay as they are, since the connections of the application's DataSource hide the"
                            + " PostgreSQL driver; if they fail behind the pooler, add prepareThreshold=0 to the URL of the"
                            + " DataSource");
        }
        return true;
    }

    private boolean isFound(LimiterConnections connections) throws SQLException {
        if (TransactionPooler.isRuledOut(connections)) {
            return false;
        }
        // Only PostgreSQL understands the next question.
        DatabaseProduct.requirePostgres(connections, "rate limits");
        try (LimiterConnections two = source.open("ratelimit-start", 2, 2)) {
            two.neverPrepare(); // the driver would prepare even its ROLLBACK
            two.setLongestWait(SECOND_CONNECTION_WAIT);
            return TransactionPooler.isFound(two);
        }
    }

    /** For log lines; without its address, which may hold a password. */
    @Override
    public String toString() {
        return source.describe() + ", schema " + settings.schema();
    }
}
