package dev.ratelimit.store.postgresql;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.KeyArrays;
import dev.ratelimit.store.postgresql.PostgresKey.Way;
import dev.ratelimit.support.Micros;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides operations that change nothing: peeks, and requests that are denied without a violation. Neither locks nor writes.
 * Not thread-safe.
 */
final class PostgresReading {

    private final PostgresStatements statements;
    private final List<StateKey> keys;
    private final @Nullable InstantSource clock;
    private PostgresRows rows = new PostgresRows();
    private long now;

    /**
     * @param clock the time, if it is given
     */
    PostgresReading(PostgresStatements statements, PostgresGroup group, @Nullable InstantSource clock) {
        this.statements = statements;
        this.keys = group.keys(Way.READ).stream().map(PostgresKey::key).toList();
        this.clock = clock;
    }

    boolean isEmpty() {
        return keys.isEmpty();
    }

    /** Reads the rows with a statement of its own. */
    void run(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(statements.readAlone)) {
            bind(statement, 1);
            statement.execute();
            statement.getMoreResults(); // after the settings
            try (ResultSet result = statement.getResultSet()) {
                read(result);
            }
        }
    }

    void bind(PreparedStatement statement, int first) throws SQLException {
        int next = first;
        if (clock != null) {
            statement.setLong(next++, Micros.of(clock.instant()));
        }
        KeyArrays.bind(statement, next, keys);
    }

    void read(ResultSet result) throws SQLException {
        rows = new PostgresRows();
        now = rows.readAll(result, keys);
    }

    /** The answer, or {@code null} if the operation changes something, or has moved. */
    @Nullable
    Answer decide(Operation operation) {
        for (Demand demand : operation.demands()) {
            if (rows.moved().contains(demand.key())) {
                return null;
            }
        }
        Answer answer = new GroupArithmetic(rows, now).decide(operation);
        for (Demand demand : operation.demands()) {
            if (rows.isChanged(demand.key())) {
                return null;
            }
        }
        return answer;
    }
}
