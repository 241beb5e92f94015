package dev.ratelimit.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.testing.RandomLimits.Kind;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.TestSeed;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/**
 * Sends the same random groups to a store and to the one in memory, on the same clock. Every answer must be the same,
 * and after each group the rows must be the states that the memory holds.
 */
abstract class StoreEqualsJava {

    private static final int DEMANDS_PER_ALGORITHM = 20_000;
    private static final int GROUPS_PER_HISTORY = 40;

    private final SettableClock clock = new SettableClock();

    /** The store under test, on an empty database that has the schema. */
    abstract LimitStore open(SettableClock clock);

    abstract DataSource database();

    /** The name of the table as a statement of that database must write it. */
    abstract String table(String name);

    /** The statement that empties the table. */
    abstract String clearing(String table);

    @Test
    void everyAnswerAndEveryRowIsTheSameAsInJava() throws SQLException {
        TestSeed seed = TestSeed.of(getClass().getSimpleName());
        Map<Kind, Integer> demands = new HashMap<>();
        try (LimitStore store = open(clock);
                Connection connection = database().getConnection()) {
            for (int number = 0; !enough(demands); number++) {
                RandomGroups groups = new RandomGroups(seed.history(number), clock);
                MemoryLimitStore memory = new MemoryLimitStore(clock);
                for (int group = 0; group < GROUPS_PER_HISTORY; group++) {
                    String where = seed + ", history " + number + ", group " + group;
                    decideInBoth(groups, memory, store, where);
                    requireSameRows(groups.keys(), memory, connection, where);
                }
                groups.demands().forEach((kind, times) -> demands.merge(kind, times, Integer::sum));
                clear(connection);
            }
        }
    }

    private void decideInBoth(RandomGroups groups, MemoryLimitStore memory, LimitStore store, String where) {
        List<Operation> group = groups.next();
        List<Answer> expected = memory.decide(group);
        List<Answer> actual;
        try {
            actual = store.decide(group);
        } catch (RuntimeException e) {
            throw new AssertionError(where + ": " + group, e);
        }
        for (int i = 0; i < group.size(); i++) {
            assertThat(actual.get(i))
                    .as("%s, operation %d: %s", where, i, group.get(i))
                    .isEqualTo(expected.get(i));
        }
        groups.answered(expected);
    }

    private void requireSameRows(List<StateKey> keys, MemoryLimitStore memory, Connection connection, String where)
            throws SQLException {
        Map<StateKey, State> states = new HashMap<>();
        Map<StateKey, Violations> violations = new HashMap<>();
        for (StateKey key : keys) {
            states.computeIfAbsent(key, memory::state);
            violations.computeIfAbsent(key, memory::violations);
        }
        assertThat(states(connection)).as("%s, states", where).isEqualTo(states);
        assertThat(violations(connection)).as("%s, violations", where).isEqualTo(violations);
    }

    private static boolean enough(Map<Kind, Integer> demands) {
        for (Kind kind : Kind.values()) {
            if (demands.getOrDefault(kind, 0) < DEMANDS_PER_ALGORITHM) {
                return false;
            }
        }
        return true;
    }

    /** All rows but those without an algorithm, which say that there is no state. */
    private Map<StateKey, State> states(Connection connection) throws SQLException {
        Map<StateKey, State> states = new HashMap<>();
        try (Statement statement = connection.createStatement();
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

    private Map<StateKey, Violations> violations(Connection connection) throws SQLException {
        Map<StateKey, Violations> violations = new HashMap<>();
        try (Statement statement = connection.createStatement();
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

    private void clear(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(clearing("rate_limits"));
            statement.execute(clearing("rate_limit_penalties"));
        }
    }
}
