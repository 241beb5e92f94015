package dev.ratelimit.store.jdbc;

import dev.ratelimit.Micros;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
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

    List<Answer> decide(Connection connection, List<Operation> group) throws SQLException {
        List<StateKey> keys = keys(group);
        PostgresRows rows = new PostgresRows();
        boolean ended = false;
        try {
            List<Answer> answers = new GroupArithmetic(rows, beginAndRead(connection, rows, keys)).decide(group);
            end(connection, rows);
            ended = true;
            return answers;
        } finally {
            if (!ended) {
                PostgresConnections.rollBack(connection);
            }
        }
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

    private long beginAndRead(Connection connection, PostgresRows rows, List<StateKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.beginAndRead)) {
            int next = PostgresRows.bindKeys(statement, 1, keys);
            if (clock != null) {
                statement.setLong(next++, Micros.of(clock.instant()));
            }
            PostgresRows.bindKeys(statement, next, keys);
            statement.execute();
            // The results of BEGIN, the settings and the lock come first.
            for (int i = 0; i < 3; i++) {
                statement.getMoreResults();
            }
            try (ResultSet result = statement.getResultSet()) {
                return rows.readAll(result, keys);
            }
        }
    }

    private void end(Connection connection, PostgresRows rows) throws SQLException {
        if (!rows.areChanged()) {
            PostgresConnections.rollBack(connection);
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(rows.statements(statements) + "COMMIT")) {
            rows.bind(statement);
            statement.execute();
        }
    }

    /** The keys that somebody else holds; all of them if none is seen to be held. */
    Set<StateKey> lockedKeys(Connection connection, List<Operation> group) throws SQLException {
        List<StateKey> keys = keys(group);
        Set<StateKey> locked = found(connection, statements.existing, keys);
        locked.removeAll(found(connection, statements.free, keys));
        return locked.isEmpty() ? new LinkedHashSet<>(keys) : locked;
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
}
