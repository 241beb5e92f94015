package dev.ratelimit.store.jdbc;

import dev.ratelimit.Micros;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps state in PostgreSQL. The schema must be there: see {@code dev.ratelimit.schema}.
 *
 * <p>The rows of a group are locked in the order of their keys and read together with the clock, decided in Java, written
 * and committed: two round trips. No session state is used, so connections may come through a proxy that pools by
 * transaction.
 */
public final class PostgresLimitStore implements LimitStore {

    private static final Logger log = LoggerFactory.getLogger(PostgresLimitStore.class);

    public static final String DEFAULT_SCHEMA = "public";

    private static final Pattern SCHEMA = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    private static final String SERIALIZATION_FAILURE = "40001";
    private static final String DEADLOCK_DETECTED = "40P01";
    private static final String IDLE_IN_TRANSACTION_TIMEOUT = "25P03";
    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final int MOST_TRIES = 5;

    /** The table or the schema does not exist. */
    private static final Set<String> MISSING_SCHEMA = Set.of("42P01", "3F000");

    /** Without a deadline. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

    private final DataSource dataSource;
    private final String schema;
    private final @Nullable InstantSource clock;
    private final @Nullable Duration deadline;
    private final boolean durable;
    private final PostgresStatements statements;
    private final PostgresPruning pruning;

    public PostgresLimitStore(DataSource dataSource, String schema) {
        this(dataSource, schema, null, null, true);
    }

    /**
     * @param clock the time, for tests; {@code null} for the clock of the database
     */
    public PostgresLimitStore(DataSource dataSource, String schema, @Nullable InstantSource clock) {
        this(dataSource, schema, clock, null, true);
    }

    private PostgresLimitStore(
            DataSource dataSource,
            String schema,
            @Nullable InstantSource clock,
            @Nullable Duration deadline,
            boolean durable) {
        this.dataSource = dataSource;
        this.schema = requireSchema(schema);
        this.clock = clock;
        this.deadline = deadline;
        this.durable = durable;
        Duration longest = deadline == null ? LONGEST_WAIT : deadline;
        this.statements =
                new PostgresStatements(schema, durable, atLeastAMilli(longest.dividedBy(2)), longest, clock != null);
        this.pruning = new PostgresPruning(dataSource, schema);
    }

    private static Duration atLeastAMilli(Duration time) {
        return time.toMillis() > 0 ? time : Duration.ofMillis(1);
    }

    /**
     * This store, for callers that wait no longer than that. A decision waits for a row that somebody else holds for half
     * of it at most. A connection that has not answered for much longer is given up: not sooner, since the database may
     * have decided, and a busy machine may be slow to say so.
     */
    public PostgresLimitStore withDeadline(Duration time) {
        return new PostgresLimitStore(dataSource, schema, clock, time, durable);
    }

    /**
     * This store, whose commits do not wait for the disk. A crash of the database may then lose the decisions of its last
     * moments (three times {@code wal_writer_delay}, 0.6 seconds by default): the same permits can be granted again.
     * Nothing else is lost, and nothing is damaged. It is set per transaction.
     */
    public PostgresLimitStore withoutWaitingForTheDisk() {
        return new PostgresLimitStore(dataSource, schema, clock, deadline, false);
    }

    /** The schema name, if it can be one. */
    public static String requireSchema(String schema) {
        if (!SCHEMA.matcher(schema).matches()) {
            throw new IllegalArgumentException(
                    "schema is '" + schema + "'; write 1 to 63 letters, digits or '_', no digit first");
        }
        return schema;
    }

    /** Refuses other encodings: a subject that they cannot hold would fail all that is decided with it. */
    public static void requireUnicode(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet encoding = statement.executeQuery("SHOW server_encoding")) {
            if (encoding.next() && !"UTF8".equals(encoding.getString(1))) {
                throw new UnsupportedDatabaseException("rate limits cannot be kept in a database with the encoding "
                        + encoding.getString(1) + "; use one with the encoding UTF8");
            }
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL cannot be asked for its encoding: " + e.getMessage(), e);
        }
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        List<StateKey> keys = keys(group);
        try {
            return tried(connection -> decide(connection, group, keys));
        } catch (SQLException e) {
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                throw new LockedKeysException(lockedKeys(keys), e);
            }
            throw failed(e);
        }
    }

    private LimitStoreException failed(SQLException e) {
        String hint = MISSING_SCHEMA.contains(String.valueOf(e.getSQLState()))
                ? "; Schema.migrate has not been run on schema " + schema
                : "";
        return new LimitStoreException("PostgreSQL failed: " + e.getMessage() + hint, e);
    }

    private static List<StateKey> keys(List<Operation> group) {
        Set<StateKey> keys = new LinkedHashSet<>();
        for (Operation operation : group) {
            for (Operation.Demand demand : operation.demands()) {
                keys.add(demand.key());
            }
        }
        return List.copyOf(keys);
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Does the work again where the database has undone all of it for reasons of its own. */
    private <T> T tried(Work<T> work) throws SQLException {
        for (int tries = 1; ; tries++) {
            try (Connection connection = connect()) {
                return work.on(connection);
            } catch (SQLException e) {
                if (tries >= mostTries(String.valueOf(e.getSQLState()))) {
                    throw e;
                }
            }
        }
    }

    private static int mostTries(String sqlState) {
        return switch (sqlState) {
            case SERIALIZATION_FAILURE, DEADLOCK_DETECTED -> MOST_TRIES;
            // This process was not running for a while: the next try is likely to be in time.
            case IDLE_IN_TRANSACTION_TIMEOUT -> 2;
            default -> 1;
        };
    }

    private List<Answer> decide(Connection connection, List<Operation> group, List<StateKey> keys) throws SQLException {
        return group.stream().allMatch(operation -> operation.kind() == Operation.Kind.PEEK)
                ? peek(connection, group, keys)
                : decideInJava(connection, group, keys);
    }

    private List<Answer> peek(Connection connection, List<Operation> group, List<StateKey> keys) throws SQLException {
        PostgresRows rows = new PostgresRows();
        try (PreparedStatement read = connection.prepareStatement(statements.read)) {
            bindRead(read, 1, keys);
            try (ResultSet result = read.executeQuery()) {
                return new GroupArithmetic(rows, read(result, rows, keys)).decide(group);
            }
        }
    }

    private int bindRead(PreparedStatement statement, int first, List<StateKey> keys) throws SQLException {
        int next = first;
        if (clock != null) {
            statement.setLong(next++, Micros.of(clock.instant()));
        }
        return PostgresRows.bindKeys(statement, next, keys);
    }

    /** The rows, and the clock of the database. */
    private static long read(ResultSet result, PostgresRows rows, List<StateKey> keys) throws SQLException {
        long now = 0;
        while (result.next()) {
            now = result.getLong(1);
            rows.read(result, keys);
        }
        return now;
    }

    /** Two round trips: lock and read, then write and commit. */
    private List<Answer> decideInJava(Connection connection, List<Operation> group, List<StateKey> keys)
            throws SQLException {
        PostgresRows rows = new PostgresRows();
        boolean ended = false;
        try {
            List<Answer> answers = new GroupArithmetic(rows, beginAndRead(connection, rows, keys)).decide(group);
            end(connection, rows);
            ended = true;
            return answers;
        } finally {
            if (!ended) {
                rollBack(connection);
            }
        }
    }

    private long beginAndRead(Connection connection, PostgresRows rows, List<StateKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.beginAndRead)) {
            bindRead(statement, PostgresRows.bindKeys(statement, 1, keys), keys);
            statement.execute();
            // The results of BEGIN, the settings and the lock come first.
            for (int i = 0; i < 3; i++) {
                statement.getMoreResults();
            }
            try (ResultSet result = statement.getResultSet()) {
                return read(result, rows, keys);
            }
        }
    }

    private static void rollBack(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("ROLLBACK");
        } catch (SQLException e) {
            log.debug("Rolling back failed; the connection is given up", e);
            abandon(connection);
        }
    }

    private void end(Connection connection, PostgresRows rows) throws SQLException {
        if (!rows.areChanged()) {
            rollBack(connection);
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(rows.statements(statements) + "COMMIT")) {
            rows.bind(statement);
            statement.execute();
        }
    }

    /** The keys that somebody else holds; all of them if none is seen to be held. */
    private Set<StateKey> lockedKeys(List<StateKey> keys) {
        try (Connection connection = connect()) {
            Set<StateKey> locked = found(connection, statements.existing, keys);
            locked.removeAll(found(connection, statements.free, keys));
            return locked.isEmpty() ? new LinkedHashSet<>(keys) : locked;
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private static Set<StateKey> found(Connection connection, String query, List<StateKey> keys) throws SQLException {
        Set<StateKey> found = new LinkedHashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            PostgresRows.bindKeys(statement, 1, keys);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new StateKey(row.getString(1), row.getString(2)));
                }
            }
        }
        return found;
    }

    private @Nullable Long now() {
        return clock == null ? null : (Long) Micros.of(clock.instant());
    }

    /** In autocommit mode, whatever the pool prefers for the application: transactions are begun and ended by statements. */
    Connection connect() throws SQLException {
        Connection connection = dataSource.getConnection();
        if (!connection.getAutoCommit()) {
            connection.setAutoCommit(true);
        }
        if (deadline != null) {
            connection.setNetworkTimeout(Runnable::run, silence(deadline));
        }
        return connection;
    }

    /** How long a connection may be silent, in milliseconds. */
    private static int silence(Duration deadline) {
        long millis = Math.max(3 * deadline.toMillis(), deadline.toMillis() + 500);
        return (int) Math.min(Integer.MAX_VALUE, millis);
    }

    private static void abandon(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("Giving up a connection failed", e);
        }
    }

    /** With a deadline, a connection that does not answer is given up. */
    @Override
    public boolean answersInTime() {
        return deadline != null;
    }

    /** One is worked on while the log of the other is flushed. */
    @Override
    public int groupsAtOnce() {
        return 2;
    }

    @Override
    public @Nullable InstantSource clock() {
        return clock;
    }

    @Override
    public Pruned prune(long keepMicros) {
        return pruning.step(now(), keepMicros);
    }

    /** The data source belongs to whoever made it. */
    @Override
    public void close() {}
}
