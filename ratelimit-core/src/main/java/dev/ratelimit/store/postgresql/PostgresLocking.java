package dev.ratelimit.store.postgresql;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.KeyArrays;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import dev.ratelimit.support.Micros;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Decides in Java, on locked rows, in two round trips: lock and read, then write and commit. */
final class PostgresLocking {

    private final PostgresStatements statements;
    private final @Nullable InstantSource clock;

    /**
     * @param clock the time, if it is given
     */
    PostgresLocking(PostgresStatements statements, @Nullable InstantSource clock) {
        this.statements = statements;
        this.clock = clock;
    }

    /**
     * @param afterOthers whether a transaction went before that has not waited for the disk
     */
    List<Answer> decide(Connection connection, List<Operation> group, boolean afterOthers) throws SQLException {
        List<StateKey> keys = keys(group);
        PostgresRows rows = new PostgresRows();
        long now = beginAndLock(connection, rows, keys, countsViolations(group));
        if (rows.size() < keys.size()) {
            PostgresConnections.rollBack(connection);
            now = beginAndMake(connection, rows, keys);
        }
        if (!rows.moved().isEmpty()) {
            throw new MovedKeysException(rows.moved(), List.of());
        }
        List<Answer> answers = new GroupArithmetic(rows, now).decide(group);
        end(connection, rows, afterOthers);
        return answers;
    }

    private static boolean countsViolations(List<Operation> group) {
        for (Operation operation : group) {
            for (Operation.Demand demand : operation.demands()) {
                if (!demand.limit().penalties().isEmpty()) {
                    return true;
                }
            }
        }
        return false;
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

    private long beginAndLock(Connection connection, PostgresRows rows, List<StateKey> keys, boolean penalties)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                penalties ? statements.beginAndLockWithPenalties : statements.beginAndLock)) {
            int next = KeyArrays.bind(statement, bindClock(statement, 1), keys);
            if (penalties) {
                KeyArrays.bind(statement, next, keys);
            }
            statement.execute();
            skip(statement, 2); // the results of BEGIN and of the settings
            long now;
            try (ResultSet result = statement.getResultSet()) {
                now = rows.readLocked(result, keys);
            }
            if (penalties) {
                statement.getMoreResults();
                try (ResultSet result = statement.getResultSet()) {
                    rows.readPenalties(result, keys);
                }
            }
            return now;
        }
    }

    private long beginAndMake(Connection connection, PostgresRows rows, List<StateKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.beginAndMake)) {
            int next = bindClock(statement, KeyArrays.bind(statement, 1, keys));
            KeyArrays.bind(statement, next, keys);
            statement.execute();
            skip(statement, 3); // the results of BEGIN, of the settings and of the lock
            try (ResultSet result = statement.getResultSet()) {
                return rows.readAll(result, keys);
            }
        }
    }

    private int bindClock(PreparedStatement statement, int at) throws SQLException {
        if (clock == null) {
            return at;
        }
        statement.setLong(at, Micros.of(clock.instant()));
        return at + 1;
    }

    private static void skip(PreparedStatement statement, int results) throws SQLException {
        for (int i = 0; i < results; i++) {
            statement.getMoreResults();
        }
    }

    /** The locks are in the log, so a commit waits for the disk even if nothing has changed. */
    private void end(Connection connection, PostgresRows rows, boolean afterOthers) throws SQLException {
        if (!rows.areChanged() && !afterOthers) {
            PostgresConnections.rollBack(connection);
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(rows.statements(statements) + "COMMIT")) {
            rows.bind(statement);
            statement.execute();
        }
    }

    /** The keys that another transaction holds; all keys if none is found to be held. */
    Set<StateKey> lockedKeys(Connection connection, List<Operation> group) throws SQLException {
        List<StateKey> keys = keys(group);
        Set<StateKey> locked = found(connection, statements.existing, keys);
        locked.removeAll(found(connection, statements.free, keys));
        return locked.isEmpty() ? new LinkedHashSet<>(keys) : locked;
    }

    private static Set<StateKey> found(Connection connection, String query, List<StateKey> keys) throws SQLException {
        Set<StateKey> found = new LinkedHashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            KeyArrays.bind(statement, 1, keys);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new StateKey(row.getString(1), row.getString(2)));
                }
            }
        }
        return found;
    }
}
