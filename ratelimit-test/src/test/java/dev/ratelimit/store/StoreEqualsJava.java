package dev.ratelimit.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.test.store.LimitStoreHistories;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;

/** Beside the answers, compares the rows after each group with the states that the memory holds. */
abstract class StoreEqualsJava extends LimitStoreHistories {

    private Connection connection;

    abstract DataSource database();

    /** The name of the table as a statement of that database must write it. */
    abstract String table(String name);

    /** The statement that empties the table. */
    abstract String clearing(String table);

    /** When the store is open: only then there is a database. */
    private Statement statement() throws SQLException {
        if (connection == null) {
            connection = database().getConnection();
        }
        return connection.createStatement();
    }

    @AfterEach
    void disconnect() throws SQLException {
        if (connection != null) {
            connection.close();
        }
    }

    @Override
    protected void decided(List<StateKey> keys, MemoryLimitStore memory, String where) throws SQLException {
        Map<StateKey, State> states = new HashMap<>();
        Map<StateKey, Violations> violations = new HashMap<>();
        for (StateKey key : keys) {
            states.computeIfAbsent(key, memory::state);
            violations.computeIfAbsent(key, memory::violations);
        }
        assertThat(states()).as("%s, states", where).isEqualTo(states);
        assertThat(violations()).as("%s, violations", where).isEqualTo(violations);
    }

    /** All rows but those without an algorithm, which say that there is no state. */
    private Map<StateKey, State> states() throws SQLException {
        Map<StateKey, State> states = new HashMap<>();
        try (Statement statement = statement();
                ResultSet row = statement.executeQuery("""
                        SELECT user_id, resource, algorithm, window_start, window_size, request_count, previous_count,
                               tokens, log, blocked_until, last_request_at, last_allowed_at, expires_at, capacity
                        FROM %s
                        WHERE algorithm <> ''
                        """.formatted(table("rate_limits")))) {
            while (row.next()) {
                byte[] log = row.getBytes(9);
                states.put(
                        new StateKey(row.getString(1), row.getString(2)),
                        new State(
                                row.getString(3),
                                new Count(
                                        row.getLong(4),
                                        row.getLong(5),
                                        row.getLong(6),
                                        row.getLong(7),
                                        row.getLong(8),
                                        log == null ? Log.EMPTY : Log.of(log)),
                                row.getLong(14),
                                row.getLong(10),
                                row.getLong(11),
                                row.getLong(12),
                                row.getLong(13)));
            }
        }
        return states;
    }

    private Map<StateKey, Violations> violations() throws SQLException {
        Map<StateKey, Violations> violations = new HashMap<>();
        try (Statement statement = statement();
                ResultSet row = statement.executeQuery("""
                        SELECT user_id, resource, violation_count, last_violation_at, penalty_until, penalty_duration,
                               forget_at
                        FROM %s
                        """.formatted(table("rate_limit_penalties")))) {
            while (row.next()) {
                violations.put(
                        new StateKey(row.getString(1), row.getString(2)),
                        new Violations(row.getLong(3), row.getLong(4), row.getLong(5), row.getLong(6), row.getLong(7)));
            }
        }
        return violations;
    }

    @Override
    protected void clear() throws SQLException {
        try (Statement statement = statement()) {
            statement.execute(clearing("rate_limits"));
            statement.execute(clearing("rate_limit_penalties"));
        }
    }
}
