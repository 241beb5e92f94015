package dev.ratelimit.store.sqlite;

import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.StateColumns;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The writing connection with its prepared statements, and the rows of the group that it works on. */
final class SqliteSession implements GroupArithmetic.Rows {

    private static final Logger log = LoggerFactory.getLogger(SqliteSession.class);

    private static final String SELECT_STATE = """
            SELECT %s
            FROM rate_limits
            WHERE user_id = ? AND resource = ?
            """.formatted(StateColumns.READ);

    // A query costs more in the driver than in the database: so the rows of a group are asked for together.

    private static final String SELECT_STATES = """
            SELECT user_id, %s
            FROM rate_limits
            WHERE resource = ? AND user_id IN (%s)
            """;

    private static final int MOST_AT_ONCE = 64;

    private static final String WRITE_STATE = """
            INSERT INTO rate_limits (algorithm, window_start, window_size, capacity, request_count, previous_count, tokens,
                                     log, blocked_until, last_request_at, last_allowed_at, expires_at, user_id, resource)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, resource) DO UPDATE
            SET algorithm = excluded.algorithm, window_start = excluded.window_start, window_size = excluded.window_size,
                capacity = excluded.capacity, request_count = excluded.request_count, previous_count = excluded.previous_count,
                tokens = excluded.tokens, log = excluded.log, blocked_until = excluded.blocked_until,
                last_request_at = excluded.last_request_at, last_allowed_at = excluded.last_allowed_at,
                expires_at = excluded.expires_at
            """;

    // The columns that most decisions change in an existing row. Every value that is bound or read is a call into
    // native code.

    private static final String WRITE_BUCKET = """
            UPDATE rate_limits
            SET window_start = ?, tokens = ?, last_request_at = ?, last_allowed_at = ?, expires_at = ?
            WHERE user_id = ? AND resource = ?
            """;

    private static final String WRITE_WINDOW = """
            UPDATE rate_limits
            SET window_start = ?, request_count = ?, previous_count = ?, last_request_at = ?, last_allowed_at = ?,
                expires_at = ?
            WHERE user_id = ? AND resource = ?
            """;

    private static final String DELETE_STATE = "DELETE FROM rate_limits WHERE user_id = ? AND resource = ?";

    private static final String SELECT_VIOLATIONS =
            "SELECT " + StateColumns.READ_VIOLATIONS + " FROM rate_limit_penalties WHERE user_id = ? AND resource = ?";

    private static final String WRITE_VIOLATIONS = """
            INSERT INTO rate_limit_penalties (violation_count, last_violation_at, penalty_until, penalty_duration,
                                              forget_at, user_id, resource)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, resource) DO UPDATE
            SET violation_count = excluded.violation_count, last_violation_at = excluded.last_violation_at,
                penalty_until = excluded.penalty_until, penalty_duration = excluded.penalty_duration,
                forget_at = excluded.forget_at
            """;

    private static final String DELETE_VIOLATIONS =
            "DELETE FROM rate_limit_penalties WHERE user_id = ? AND resource = ?";

    /** Carries an error of the database through the arithmetic, which knows of none. */
    static final class Failure extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final SQLException error;

        Failure(SQLException error) {
            super(error);
            this.error = error;
        }

        SQLException error() {
            return error;
        }
    }

    private final Connection connection;
    private final PreparedStatement begin;
    private final PreparedStatement commit;
    private final PreparedStatement selectState;
    private final PreparedStatement writeState;
    private final PreparedStatement writeBucket;
    private final PreparedStatement writeWindow;
    private final PreparedStatement deleteState;
    private final PreparedStatement selectViolations;
    private final PreparedStatement writeViolations;
    private final PreparedStatement deleteViolations;

    /** The statements that read several rows, by the number of rows. */
    private final Map<Integer, PreparedStatement> selectStates = new HashMap<>();

    /** The rows as they are in the file, without those that do not exist there. */
    private final Map<StateKey, State> stored = new HashMap<>();

    private final Map<StateKey, State> read = new HashMap<>();
    private final Map<StateKey, State> changed = new HashMap<>();

    SqliteSession(Connection connection) throws SQLException {
        this.connection = connection;
        this.begin = connection.prepareStatement("BEGIN IMMEDIATE");
        this.commit = connection.prepareStatement("COMMIT");
        this.selectState = connection.prepareStatement(SELECT_STATE);
        this.writeState = connection.prepareStatement(WRITE_STATE);
        this.writeBucket = connection.prepareStatement(WRITE_BUCKET);
        this.writeWindow = connection.prepareStatement(WRITE_WINDOW);
        this.deleteState = connection.prepareStatement(DELETE_STATE);
        this.selectViolations = connection.prepareStatement(SELECT_VIOLATIONS);
        this.writeViolations = connection.prepareStatement(WRITE_VIOLATIONS);
        this.deleteViolations = connection.prepareStatement(DELETE_VIOLATIONS);
    }

    Connection connection() {
        return connection;
    }

    /** How long a transaction waits from now on for another process that is writing. */
    void waitForOthers(Duration time) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA busy_timeout = " + time.toMillis());
        }
    }

    void begin() throws SQLException {
        stored.clear();
        read.clear();
        changed.clear();
        begin.executeUpdate();
    }

    void commit() throws SQLException {
        boolean buckets = false;
        boolean windows = false;
        for (Map.Entry<StateKey, State> row : changed.entrySet()) {
            StateKey key = row.getKey();
            State state = row.getValue();
            if (!isCounted(stored.get(key), state)) {
                writeState(key, state);
            } else if (Algorithms.layoutOf(state.algorithm()) == Count.Layout.BUCKET) {
                addBucket(key, state);
                buckets = true;
            } else {
                addWindow(key, state);
                windows = true;
            }
        }
        if (buckets) {
            writeBucket.executeBatch();
        }
        if (windows) {
            writeWindow.executeBatch();
        }
        commit.executeUpdate();
    }

    /** Whether only that has changed which every decision changes, of a row that exists. */
    private static boolean isCounted(@Nullable State before, State after) {
        return before != null
                && before.algorithm().equals(after.algorithm())
                && Algorithms.layoutOf(after.algorithm()) != Count.Layout.LOG
                && before.count().size() == after.count().size()
                && before.capacity() == after.capacity()
                && before.blockedUntil() == after.blockedUntil();
    }

    /** Reads the rows of a group at once. */
    void fetch(List<Operation> group) throws SQLException {
        if (group.size() == 1) {
            return;
        }
        Map<String, Set<String>> subjects = new HashMap<>();
        for (Operation operation : group) {
            for (Operation.Demand demand : operation.demands()) {
                subjects.computeIfAbsent(demand.limit().name(), name -> new LinkedHashSet<>())
                        .add(demand.subject().text());
            }
        }
        for (Map.Entry<String, Set<String>> limit : subjects.entrySet()) {
            List<String> all = List.copyOf(limit.getValue());
            for (int from = 0; from < all.size(); from += MOST_AT_ONCE) {
                fetch(limit.getKey(), all.subList(from, Math.min(all.size(), from + MOST_AT_ONCE)));
            }
        }
    }

    private void fetch(String limit, List<String> subjects) throws SQLException {
        // The next power of two: so there are few statements, and the last subject is named more than once.
        int size = Integer.highestOneBit(2 * subjects.size() - 1);
        PreparedStatement select = selectStates.get(size);
        if (select == null) {
            select = connection.prepareStatement(
                    SELECT_STATES.formatted(StateColumns.READ, "?" + ", ?".repeat(size - 1)));
            selectStates.put(size, select);
        }
        select.setString(1, limit);
        for (int i = 0; i < size; i++) {
            select.setString(i + 2, subjects.get(Math.min(i, subjects.size() - 1)));
        }
        for (String subject : subjects) {
            read.put(new StateKey(subject, limit), State.FRESH);
        }
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                StateKey key = new StateKey(row.getString(1), limit);
                State state = StateColumns.read(row, 2);
                read.put(key, state);
                stored.put(key, state);
            }
        }
    }

    @Override
    public State state(StateKey key) {
        State known = read.get(key);
        if (known != null) {
            return known;
        }
        State state = select(key);
        read.put(key, state);
        return state;
    }

    private State select(StateKey key) {
        try {
            selectState.setString(1, key.subject());
            selectState.setString(2, key.limit());
            try (ResultSet row = selectState.executeQuery()) {
                if (!row.next()) {
                    return State.FRESH;
                }
                State state = StateColumns.read(row, 1);
                stored.put(key, state);
                return state;
            }
        } catch (SQLException e) {
            throw new Failure(e);
        }
    }

    /** Written with the commit: a row that several requests of the group change is written once. */
    @Override
    public void write(StateKey key, State state) {
        read.put(key, state);
        changed.put(key, state);
    }

    private void writeState(StateKey key, State state) throws SQLException {
        Count count = state.count();
        writeState.setString(1, state.algorithm());
        writeState.setLong(2, count.start());
        writeState.setLong(3, count.size());
        writeState.setLong(4, state.capacity());
        writeState.setLong(5, count.used());
        writeState.setLong(6, count.previous());
        writeState.setLong(7, count.tokens());
        writeState.setBytes(
                8, count.log().equals(Log.EMPTY) ? null : count.log().toBytes());
        writeState.setLong(9, state.blockedUntil());
        writeState.setLong(10, state.last());
        writeState.setLong(11, state.lastAllowed());
        writeState.setLong(12, state.expiresAt());
        writeState.setString(13, key.subject());
        writeState.setString(14, key.limit());
        writeState.executeUpdate();
    }

    private void addBucket(StateKey key, State state) throws SQLException {
        writeBucket.setLong(1, state.count().start());
        writeBucket.setLong(2, state.count().tokens());
        writeBucket.setLong(3, state.last());
        writeBucket.setLong(4, state.lastAllowed());
        writeBucket.setLong(5, state.expiresAt());
        writeBucket.setString(6, key.subject());
        writeBucket.setString(7, key.limit());
        writeBucket.addBatch();
    }

    private void addWindow(StateKey key, State state) throws SQLException {
        writeWindow.setLong(1, state.count().start());
        writeWindow.setLong(2, state.count().used());
        writeWindow.setLong(3, state.count().previous());
        writeWindow.setLong(4, state.last());
        writeWindow.setLong(5, state.lastAllowed());
        writeWindow.setLong(6, state.expiresAt());
        writeWindow.setString(7, key.subject());
        writeWindow.setString(8, key.limit());
        writeWindow.addBatch();
    }

    @Override
    public Violations violations(StateKey key) {
        try {
            selectViolations.setString(1, key.subject());
            selectViolations.setString(2, key.limit());
            try (ResultSet row = selectViolations.executeQuery()) {
                return row.next() ? StateColumns.readViolations(row, 1) : Violations.NONE;
            }
        } catch (SQLException e) {
            throw new Failure(e);
        }
    }

    @Override
    public void write(StateKey key, Violations violations) {
        try {
            writeViolations.setLong(1, violations.count());
            writeViolations.setLong(2, violations.lastAt());
            writeViolations.setLong(3, violations.penaltyUntil());
            writeViolations.setLong(4, violations.penaltyDuration());
            writeViolations.setLong(5, violations.forgetAt());
            writeViolations.setString(6, key.subject());
            writeViolations.setString(7, key.limit());
            writeViolations.executeUpdate();
        } catch (SQLException e) {
            throw new Failure(e);
        }
    }

    @Override
    public void remove(StateKey key) {
        try {
            for (PreparedStatement delete : new PreparedStatement[] {deleteState, deleteViolations}) {
                delete.setString(1, key.subject());
                delete.setString(2, key.limit());
                delete.executeUpdate();
            }
        } catch (SQLException e) {
            throw new Failure(e);
        }
        stored.remove(key);
        read.put(key, State.FRESH);
        changed.remove(key);
    }

    /** Closing the connection rolls back an open transaction. */
    void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            log.debug("Ignoring a failure to close an SQLite connection", e);
        }
    }
}
