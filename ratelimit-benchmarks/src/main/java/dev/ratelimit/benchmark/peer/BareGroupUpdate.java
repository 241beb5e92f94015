package dev.ratelimit.benchmark.peer;

import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Pruned;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/**
 * A store that decides nothing: for each group it adds up the permits taken of each row and writes the sums with one update, and
 * everybody may pass. The groups come from the engine, and the rows are those that the PostgreSQL store has written, so that
 * the difference to that store is the statement alone.
 */
public final class BareGroupUpdate implements LimitStore {

    private final DataSource pool;
    private final String update;
    private final String read;

    /**
     * @param schema has the tables of the limiter, with a row for each key
     */
    public BareGroupUpdate(DataSource pool, String schema) throws SQLException {
        this.pool = pool;
        this.update = """
                UPDATE %s.rate_limits AS state SET taken = state.taken + key.take
                FROM unnest(?, ?) AS key (subject, take)
                WHERE state.user_id = key.subject AND state.resource = ?
                """.formatted(schema);
        this.read = "SELECT taken FROM %s.rate_limits WHERE user_id = ? AND resource = ?".formatted(schema);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "ALTER TABLE %s.rate_limits ADD COLUMN taken bigint NOT NULL DEFAULT 0".formatted(schema));
            // Writes all rows anew, with the column and without the versions that charging them has left.
            statement.execute("VACUUM FULL ANALYZE %s.rate_limits".formatted(schema));
        }
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        try (Connection connection = pool.getConnection()) {
            if (group.get(0).kind() == Operation.Kind.PEEK) {
                return List.of(taken(connection, group.get(0).demands().get(0)));
            }
            Map<String, Long> takes = new LinkedHashMap<>();
            for (Operation operation : group) {
                for (Demand demand : operation.demands()) {
                    takes.merge(demand.subject().text(), demand.cost(), Long::sum);
                }
            }
            String limit = group.get(0).demands().get(0).limit().name();
            update(connection, takes, limit);
            List<Answer> answers = new ArrayList<>(group.size());
            for (Operation operation : group) {
                answers.add(allowed(operation.demands().get(0), 0));
            }
            return answers;
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL failed: " + e.getMessage(), e);
        }
    }

    private void update(Connection connection, Map<String, Long> takes, String limit) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(update)) {
            statement.setObject(1, takes.keySet().toArray(String[]::new));
            statement.setObject(
                    2, takes.values().stream().mapToLong(Long::longValue).toArray());
            statement.setString(3, limit);
            int updated = statement.executeUpdate();
            if (updated != takes.size()) {
                throw new SQLException(updated + " of " + takes.size() + " rows were there");
            }
        }
    }

    private Answer taken(Connection connection, Demand demand) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(read)) {
            statement.setString(1, demand.subject().text());
            statement.setString(2, demand.limit().name());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return allowed(demand, demand.limit().capacity() - row.getLong(1));
            }
        }
    }

    private static Answer allowed(Demand demand, long remaining) {
        long now = System.currentTimeMillis() * 1000;
        return new Answer(
                now,
                List.of(new Verdict(Outcome.ALLOWED, remaining, now, now, 0, 0, new Charge(now, demand.cost(), 0))));
    }

    /** As the PostgreSQL store does: a lone caller makes the call on its own thread. */
    @Override
    public boolean answersInTime() {
        return true;
    }

    @Override
    public int groupsAtOnce() {
        return Stores.GROUPS_ON_POSTGRES;
    }

    @Override
    public Pruned prune(long keepMicros) {
        return Pruned.NOTHING_WHILE_BUSY;
    }

    @Override
    public void close() {}
}
