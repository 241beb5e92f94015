package dev.ratelimit.store.postgresql.shard;

import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.KeyArrays;
import dev.ratelimit.store.jdbc.StateColumns;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import dev.ratelimit.store.shard.ShardTables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The shards in PostgreSQL. A key that has left is marked in {@code algorithm}: {@code moved:VERSION:ALGORITHM}. No
 * algorithm has such a name, so the admission statement leaves the row alone, and the Java path refuses it. All other
 * columns stay, so that the state is not lost if the instance that moves it stops before it has arrived. Then the mark is
 * emptied: {@code moved:VERSION:}.
 */
public final class PostgresShardTables implements ShardTables {

    private static final String BEGIN = """
            BEGIN ISOLATION LEVEL READ COMMITTED;
            SELECT set_config('lock_timeout', '%d', true), set_config('enable_seqscan', 'off', true);
            """;

    private static final String LISTS =
            "SELECT version, names, this_name, moved_at FROM \"%s\".rate_limit_shards ORDER BY version";

    private static final String RECORD = """
            INSERT INTO "%s".rate_limit_shards (version, names, this_name, moved_at)
            VALUES (?, ?, ?, CASE WHEN ? THEN floor(extract(epoch FROM clock_timestamp()) * 1000000) ELSE 0 END)
            ON CONFLICT (version) DO NOTHING
            """;

    /** A mark that still keeps state or violations: another instance is about to bring them, or has failed to. */
    private static final String ALL_MOVED = """
            UPDATE "%1$s".rate_limit_shards SET moved_at = floor(extract(epoch FROM clock_timestamp()) * 1000000)
            WHERE version = ? AND moved_at = 0
              AND NOT EXISTS (SELECT FROM "%1$s".rate_limits WHERE algorithm LIKE 'moved:%%:_%%')
              AND NOT EXISTS (
                SELECT FROM "%1$s".rate_limit_penalties penalty
                JOIN "%1$s".rate_limits state USING (user_id, resource)
                WHERE state.algorithm LIKE 'moved:%%')
            """;

    /** Also inserts a mark where there is no state. A mark outlives the expiry of its state by a day at least. */
    private static final String LEAVE = """
            INSERT INTO "%1$s".rate_limits AS state (user_id, resource, algorithm, expires_at)
            SELECT key.subject, key.resource, ?,
                   floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 86400000000
            FROM unnest(?::text[], ?::text[]) AS key (subject, resource)
            ORDER BY key.subject COLLATE "C", key.resource COLLATE "C"
            ON CONFLICT (user_id, resource) DO UPDATE
            SET algorithm = excluded.algorithm || %2$s, expires_at = greatest(state.expires_at, excluded.expires_at),
                version = state.version + 1
            WHERE %3$s;
            """;

    private static final String FORGET_PENALTIES = """
            DELETE FROM "%1$s".rate_limit_penalties penalty
            USING unnest(?::text[], ?::text[]) AS key (subject, resource)
            WHERE penalty.user_id = key.subject AND penalty.resource = key.resource;
            """;

    private static final String READ = """
            SELECT key.number, state.*, %3$s
            FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS key (subject, resource, number)
            CROSS JOIN LATERAL (
                SELECT %2$s
                FROM "%1$s".rate_limits
                WHERE user_id = key.subject AND resource = key.resource
                OFFSET 0
            ) state
            LEFT JOIN LATERAL (
                SELECT %3$s
                FROM "%1$s".rate_limit_penalties
                WHERE user_id = key.subject AND resource = key.resource
                OFFSET 0
            ) penalty ON true;
            """;

    private static final String ARRIVE = """
            INSERT INTO "%s".rate_limits
                (user_id, resource, algorithm, window_start, window_size, capacity, request_count, previous_count, tokens,
                 log, blocked_until, last_request_at, last_allowed_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, resource) DO NOTHING
            """;

    private static final String ARRIVE_PENALTY = """
            INSERT INTO "%s".rate_limit_penalties
                (user_id, resource, violation_count, last_violation_at, penalty_until, penalty_duration, forget_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, resource) DO NOTHING
            """;

    /** Violations leave their table once they have arrived. */
    private static final String KEYS_AFTER = """
            SELECT user_id, resource FROM (
                (SELECT user_id, resource FROM "%1$s".rate_limits
                 WHERE (user_id, resource) > (?, ?)
                   AND (algorithm NOT LIKE 'moved:%%' OR algorithm LIKE 'moved:%%:_%%')
                 ORDER BY user_id, resource LIMIT ?)
                UNION
                (SELECT user_id, resource FROM "%1$s".rate_limit_penalties
                 WHERE (user_id, resource) > (?, ?)
                 ORDER BY user_id, resource LIMIT ?)
            ) key
            ORDER BY user_id, resource LIMIT ?
            """;

    /** The least deadline of work in the background, which may read many rows and which no request waits for. */
    private static final Duration LEAST_IN_BACKGROUND = Duration.ofSeconds(10);

    private final PostgresConnections connections;
    private final PostgresConnections inBackground;
    private final String schema;
    private final String leave;
    private final String forget;

    /**
     * @param deadline how long to wait for a row that another transaction holds. A connection is aborted if it is silent for much
     *     longer
     */
    public PostgresShardTables(DataSource dataSource, String schema, Duration deadline) {
        this.connections = new PostgresConnections(dataSource, deadline);
        this.inBackground = new PostgresConnections(
                dataSource, deadline.compareTo(LEAST_IN_BACKGROUND) < 0 ? LEAST_IN_BACKGROUND : deadline);
        this.schema = PostgresLimitStore.requireSchema(schema);
        String begin = BEGIN.formatted(Math.max(1, deadline.toMillis()));
        String read = READ.formatted(
                schema,
                StateColumns.READ_WHOLE.replaceFirst("algorithm", "split_part(algorithm, ':', 3) AS algorithm"),
                StateColumns.READ_VIOLATIONS);
        this.leave = begin
                + LEAVE.formatted(schema, "state.algorithm", "state.algorithm NOT LIKE 'moved:%'")
                + read
                + "COMMIT";
        this.forget =
                begin + LEAVE.formatted(schema, "''", "true") + FORGET_PENALTIES.formatted(schema) + read + "COMMIT";
    }

    private interface Reading<T> {
        T from(Connection connection) throws SQLException;
    }

    private <T> T run(Reading<T> reading) {
        return run(connections, reading);
    }

    private static <T> T run(PostgresConnections connections, Reading<T> reading) {
        List<T> result = new ArrayList<>(1);
        try {
            connections.run(connection -> {
                result.clear();
                result.add(reading.from(connection));
            });
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL failed: " + e.getMessage(), e);
        }
        return result.get(0);
    }

    @Override
    public List<Recorded> read() {
        return run(this::lists);
    }

    private List<Recorded> lists(Connection connection) throws SQLException {
        List<Recorded> lists = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(LISTS.formatted(schema))) {
            while (row.next()) {
                lists.add(new Recorded(
                        row.getInt(1),
                        Arrays.asList((String[]) row.getArray(2).getArray()),
                        row.getString(3),
                        row.getLong(4) > 0));
            }
        }
        return lists;
    }

    @Override
    public Recorded record(Recorded list) {
        return run(connection -> {
            try (PreparedStatement insert = connection.prepareStatement(RECORD.formatted(schema))) {
                insert.setInt(1, list.version());
                insert.setObject(2, list.names().toArray(String[]::new));
                insert.setString(3, list.here());
                insert.setBoolean(4, list.moved());
                insert.executeUpdate();
            }
            return lists(connection).stream()
                    .filter(one -> one.version() == list.version())
                    .findFirst()
                    .orElseThrow(() -> new SQLException("the list of shards was deleted meanwhile"));
        });
    }

    @Override
    public boolean hasState() {
        return run(inBackground, connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "SELECT EXISTS (SELECT FROM \"%s\".rate_limits WHERE algorithm <> '')".formatted(schema))) {
                row.next();
                return row.getBoolean(1);
            }
        });
    }

    @Override
    public List<Leaving> leave(List<StateKey> keys, int version, boolean forgotten) {
        return run(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(forgotten ? forget : leave)) {
                statement.setString(1, StateColumns.MOVED + version + ":");
                int next = KeyArrays.bind(statement, 2, keys);
                if (forgotten) {
                    next = KeyArrays.bind(statement, next, keys);
                }
                KeyArrays.bind(statement, next, keys);
                statement.execute();
                for (int i = 0; i < (forgotten ? 4 : 3); i++) {
                    statement.getMoreResults(); // after BEGIN, the settings, the marks and the penalties
                }
                try (ResultSet row = statement.getResultSet()) {
                    return leaving(row, keys);
                }
            }
        });
    }

    private static List<Leaving> leaving(ResultSet row, List<StateKey> keys) throws SQLException {
        List<Leaving> leaving = new ArrayList<>();
        while (row.next()) {
            leaving.add(new Leaving(
                    keys.get(row.getInt(1) - 1),
                    StateColumns.readWhole(row, 2),
                    StateColumns.readViolations(row, 3 + StateColumns.COUNT)));
        }
        return leaving;
    }

    @Override
    public void arrive(List<Leaving> rows) {
        run(connection -> {
            PostgresConnections.commit(connection, transaction -> {
                arriveStates(transaction, rows);
                arrivePenalties(transaction, rows);
            });
            return rows;
        });
    }

    private void arriveStates(Connection connection, List<Leaving> rows) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(ARRIVE.formatted(schema))) {
            for (Leaving row : rows) {
                State state = row.state();
                if (state.isFresh()) {
                    continue;
                }
                Count count = state.count();
                insert.setString(1, row.key().subject());
                insert.setString(2, row.key().limit());
                insert.setString(3, state.algorithm());
                long[] numbers = {
                    count.start(), count.size(), state.capacity(), count.used(), count.previous(), count.tokens()
                };
                for (int i = 0; i < numbers.length; i++) {
                    insert.setLong(4 + i, numbers[i]);
                }
                insert.setBytes(
                        10, count.log().equals(Log.EMPTY) ? null : count.log().toBytes());
                insert.setLong(11, state.blockedUntil());
                insert.setLong(12, state.last());
                insert.setLong(13, state.lastAllowed());
                insert.setLong(14, state.expiresAt());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private void arrivePenalties(Connection connection, List<Leaving> rows) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(ARRIVE_PENALTY.formatted(schema))) {
            for (Leaving row : rows) {
                Violations violations = row.violations();
                if (violations.isNone()) {
                    continue;
                }
                insert.setString(1, row.key().subject());
                insert.setString(2, row.key().limit());
                insert.setLong(3, violations.count());
                insert.setLong(4, violations.lastAt());
                insert.setLong(5, violations.penaltyUntil());
                insert.setLong(6, violations.penaltyDuration());
                insert.setLong(7, violations.forgetAt());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    @Override
    public List<StateKey> keysAfter(@Nullable StateKey key, int most) {
        return run(inBackground, connection -> {
            try (PreparedStatement select = connection.prepareStatement(KEYS_AFTER.formatted(schema))) {
                String subject = key == null ? "" : key.subject();
                String limit = key == null ? "" : key.limit();
                for (int first : List.of(1, 4)) {
                    select.setString(first, subject);
                    select.setString(first + 1, limit);
                    select.setInt(first + 2, most);
                }
                select.setInt(7, most);
                List<StateKey> keys = new ArrayList<>();
                try (ResultSet row = select.executeQuery()) {
                    while (row.next()) {
                        keys.add(new StateKey(row.getString(1), row.getString(2)));
                    }
                }
                return keys;
            }
        });
    }

    @Override
    public void allMoved(int version) {
        run(inBackground, connection -> {
            try (PreparedStatement update = connection.prepareStatement(ALL_MOVED.formatted(schema))) {
                update.setInt(1, version);
                return update.executeUpdate();
            }
        });
    }
}
