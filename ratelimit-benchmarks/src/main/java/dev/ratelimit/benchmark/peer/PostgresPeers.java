package dev.ratelimit.benchmark.peer;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Limits written by hand in PostgreSQL, as peers. */
public final class PostgresPeers {

    private PostgresPeers() {}

    /** The least that a durable decision can cost: one update of one row that exists. It decides nothing. */
    public static Peer bareUpdate(DataSource pool, String table, int keys) throws SQLException {
        execute(
                pool,
                "CREATE TABLE " + table + " (id text PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 70)",
                "INSERT INTO " + table + " SELECT 'user:user' || i, 0 FROM generate_series(0, " + (keys - 1) + ") i",
                "VACUUM ANALYZE " + table);
        return new BareUpdate(pool, table);
    }

    private record BareUpdate(DataSource pool, String table) implements Peer {

        @Override
        public boolean decide(int key) throws SQLException {
            try (Connection connection = pool.getConnection();
                    PreparedStatement statement =
                            connection.prepareStatement("UPDATE " + table + " SET n = n + 1 WHERE id = ?")) {
                statement.setString(1, "user:user" + key);
                return statement.executeUpdate() == 1;
            }
        }

        @Override
        public void requireExact(int key, long admitted, long denied) throws SQLException {
            try (Connection connection = pool.getConnection();
                    PreparedStatement statement =
                            connection.prepareStatement("SELECT n FROM " + table + " WHERE id = ?")) {
                statement.setString(1, "user:user" + key);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    Peer.requireSame("updated", key, row.getLong(1), admitted);
                }
            }
        }
    }

    /** One stored function for each decision: an upsert that refills and takes, as libraries of this kind do it. */
    public static Peer functionPerDecision(DataSource pool, String name, long burst) throws SQLException {
        execute(pool, """
                CREATE TABLE %1$s (
                    bucket_key text PRIMARY KEY, tokens double precision NOT NULL, updated_at timestamptz NOT NULL)
                """.formatted(name), "CREATE INDEX ON %1$s (updated_at)".formatted(name), """
                CREATE FUNCTION %1$s_check(p_key text, p_capacity double precision, p_refill double precision)
                RETURNS TABLE (allowed boolean, tokens_left double precision) LANGUAGE plpgsql AS $$
                DECLARE
                    now_ CONSTANT timestamptz := clock_timestamp();
                BEGIN
                    RETURN QUERY
                    INSERT INTO %1$s AS b (bucket_key, tokens, updated_at) VALUES (p_key, p_capacity - 1, now_)
                    ON CONFLICT (bucket_key) DO UPDATE
                    SET tokens = CASE
                            WHEN least(p_capacity, b.tokens + extract(epoch FROM now_ - b.updated_at) * p_refill) >= 1
                            THEN least(p_capacity, b.tokens + extract(epoch FROM now_ - b.updated_at) * p_refill) - 1
                            ELSE least(p_capacity, b.tokens + extract(epoch FROM now_ - b.updated_at) * p_refill) - 2
                        END,
                        updated_at = now_
                    RETURNING b.tokens >= 0, b.tokens;
                END $$
                """.formatted(name));
        return key -> {
            try (Connection connection = pool.getConnection();
                    PreparedStatement statement =
                            connection.prepareStatement("SELECT allowed FROM " + name + "_check(?, ?, ?)")) {
                statement.setString(1, "user:user" + key);
                statement.setDouble(2, burst);
                statement.setDouble(3, 1.0 / 86400);
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() && row.getBoolean(1);
                }
            }
        };
    }

    private static void execute(DataSource pool, String... statements) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
