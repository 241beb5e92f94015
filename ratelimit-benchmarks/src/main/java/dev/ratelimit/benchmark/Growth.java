package dev.ratelimit.benchmark;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.load.Servers;
import dev.ratelimit.benchmark.load.Spread;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.Stores;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.upkeep.Upkeep;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * How the cost of a decision changes as the tables grow, and what upkeep does to others while it runs. Rows are written
 * directly, as decisions would have left them.
 */
public final class Growth {

    /** The table size that larger ones are compared with. */
    private static final int SMALL = 1_000;

    private static final double SECONDS = 1.5;
    private static final int REPETITIONS = 7;

    /** A p99 differs from one second to the next by more than the effect of upkeep. */
    private static final int UPKEEP_REPETITIONS = 21;

    private static final double UPKEEP_SECONDS = 1;

    private static final double WARM_UP = 3;
    private static final int CALLERS = 16;

    /** How many subjects ask; the others have rows and are silent. */
    private static final int ACTIVE = Integer.getInteger("growth.active", 1_000);

    private static final Limit LIMIT = MeasuredLimits.refilledBucket("bucket", 1_000_000, "100/s");

    /** Microseconds a permit is of this limit: what the column window_size holds. */
    private static final long UNIT = 1_000_000;

    private Growth() {}

    public static void main(String[] arguments) throws Exception {
        int mostPostgres = Integer.getInteger("growth.postgresql", 10_000_000);
        int mostSqlite = Integer.getInteger("growth.sqlite", 1_000_000);
        try (Servers servers = Servers.start()) {
            System.out.println(servers.settings());
            if (mostPostgres > 0) {
                postgres(servers, mostPostgres);
            }
            if (mostSqlite > 0) {
                sqlite(servers, mostSqlite);
            }
        }
        System.exit(0); // the clients of Redis leave threads behind
    }

    private static void postgres(Servers servers, int most) throws Exception {
        HikariDataSource pool = servers.pool(8);
        TimedStore small = postgres(pool, "growth_small");
        fillPostgres(pool, "growth_small", 0, SMALL);
        TimedStore large = postgres(pool, "growth");
        int rows = 0;
        for (int size = 10 * SMALL; size <= most; size *= 10) {
            fillPostgres(pool, "growth", rows, size);
            rows = size;
            grown("postgresql", 2, small, large, size);
        }
        execute(pool, """
                UPDATE growth.rate_limits SET expires_at = 1 WHERE user_id LIKE '%7'
                """, "VACUUM growth.rate_limits");
        long expired = count(pool, "SELECT count(*) FROM growth.rate_limits WHERE expires_at = 1");
        upkeep("postgresql", large, 2, rows);
        long left = count(pool, "SELECT count(*) FROM growth.rate_limits WHERE expires_at = 1");
        System.out.println("postgresql upkeep deleted " + (expired - left) + " of " + expired + " rows meanwhile");
    }

    private static TimedStore postgres(HikariDataSource pool, String schema) {
        return new TimedStore(Stores.newPostgres(pool, schema));
    }

    private static void fillPostgres(DataSource pool, String schema, int from, int to) throws SQLException {
        execute(
                pool,
                """
                INSERT INTO %4$s.rate_limits (user_id, resource, algorithm, window_start, window_size, tokens,
                                              last_request_at, last_allowed_at, expires_at)
                SELECT 'user:user' || i, 'bucket', 'token-bucket', m, %1$d, 500000 * %1$d::bigint, m, m, m + 5000000000
                FROM generate_series(%2$d, %3$d) i,
                     (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS m) now
                ON CONFLICT DO NOTHING
                """.formatted(UNIT, from, to - 1, schema),
                "VACUUM ANALYZE " + schema + ".rate_limits",
                "CHECKPOINT");
    }

    private static void sqlite(Servers servers, int most) throws Exception {
        SqliteFile smallFile = sqlite(servers, "growth-small.db");
        fillSqlite(smallFile, 0, SMALL);
        SqliteFile file = sqlite(servers, "growth.db");
        int rows = 0;
        try (TimedStore small = new TimedStore(Stores.sqlite(smallFile));
                TimedStore large = new TimedStore(Stores.sqlite(file))) {
            for (int size = 10 * SMALL; size <= most; size *= 10) {
                fillSqlite(file, rows, size);
                rows = size;
                grown("sqlite", 1, small, large, size);
            }
            execute(file.dataSource(), "UPDATE rate_limits SET expires_at = 1 WHERE user_id LIKE '%7'");
            long expired = count(file.dataSource(), "SELECT count(*) FROM rate_limits WHERE expires_at = 1");
            upkeep("sqlite", large, 1, rows);
            long left = count(file.dataSource(), "SELECT count(*) FROM rate_limits WHERE expires_at = 1");
            System.out.println("sqlite upkeep deleted " + (expired - left) + " of " + expired + " rows meanwhile");
        }
    }

    private static SqliteFile sqlite(Servers servers, String name) {
        return Stores.newSqliteFile(servers.folder().resolve(name), false);
    }

    private static void fillSqlite(SqliteFile file, int from, int to) throws SQLException {
        execute(file.dataSource(), """
                WITH RECURSIVE n(i) AS (SELECT %2$d UNION ALL SELECT i + 1 FROM n WHERE i < %3$d)
                INSERT INTO rate_limits (user_id, resource, algorithm, window_start, window_size, request_count,
                    previous_count, tokens, blocked_until, last_request_at, last_allowed_at, expires_at)
                SELECT 'user:user' || i, 'bucket', 'token-bucket', unixepoch() * 1000000, %1$d, 0, 0,
                       500000 * %1$d, 0, unixepoch() * 1000000, unixepoch() * 1000000,
                       unixepoch() * 1000000 + 5000000000
                FROM n WHERE true
                ON CONFLICT DO NOTHING
                """.formatted(UNIT, from, to - 1));
    }

    /** The subjects that ask, evenly spread over all that have rows. */
    private static Peer spread(StoreRateLimiter limiter, int rows) {
        int step = Math.max(1, rows / ACTIVE);
        return key -> {
            Decision decision = limiter.decide(LimitRequest.of(Subject.user("user" + key * step), LIMIT));
            if (!decision.outcome().isDecided()) {
                throw new IllegalStateException("no decision: " + decision, decision.failure());
            }
            return decision.allowed();
        };
    }

    /** The cost of a decision with that many rows beside the cost with few, in turns. */
    private static void grown(String name, int groups, TimedStore small, TimedStore large, int rows) throws Exception {
        double[] before = new double[REPETITIONS];
        double[] now = new double[REPETITIONS];
        try (StoreRateLimiter onSmall = Stores.limiter(small, groups);
                StoreRateLimiter onLarge = Stores.limiter(large, groups)) {
            cost(onSmall, SMALL, WARM_UP);
            cost(onLarge, rows, WARM_UP);
            small.report();
            large.report();
            for (int i = 0; i < REPETITIONS; i++) {
                before[i] = cost(onSmall, SMALL, SECONDS);
                now[i] = cost(onLarge, rows, SECONDS);
            }
        }
        double costBefore = Spread.median(before);
        double cost = Spread.median(now);
        System.out.printf(
                Locale.ROOT, "%s with %d rows: %.1f µs a decision, %s%n", name, SMALL, costBefore, small.report());
        System.out.printf(Locale.ROOT, "%s with %d rows: %.1f µs a decision, %s%n", name, rows, cost, large.report());
        System.out.printf(Locale.ROOT, "ratio growth-%s-%d/%d %.2f%n", name, rows, SMALL, cost / costBefore);
    }

    /** Microseconds that a decision costs. */
    private static double cost(StoreRateLimiter limiter, int rows, double seconds) throws Exception {
        return 1e6
                / new Load(CALLERS, Math.min(rows, ACTIVE))
                        .run(spread(limiter, rows), seconds)
                        .perSecond();
    }

    /** The p99 of decisions while expired rows are deleted, beside that without. */
    private static void upkeep(String name, LimitStore store, int groups, int keys) throws Exception {
        Load load = new Load(CALLERS, Math.min(keys, ACTIVE));
        List<Double> without = new ArrayList<>();
        List<Double> during = new ArrayList<>();
        try (StoreRateLimiter limiter = Stores.limiter(store, groups)) {
            Peer ours = spread(limiter, keys);
            load.run(ours, WARM_UP);
            for (int i = 0; i < UPKEEP_REPETITIONS; i++) {
                without.add(load.run(ours, UPKEEP_SECONDS).p99());
                try (Upkeep upkeep = new Upkeep(store, Duration.ofHours(1)).every(Duration.ofMillis(1))) {
                    during.add(load.run(ours, UPKEEP_SECONDS).p99());
                }
            }
        }
        System.out.printf(
                Locale.ROOT,
                "ratio upkeep-p99-%s/without %.2f%n",
                name,
                Spread.median(during.stream().mapToDouble(d -> d).toArray())
                        / Spread.median(without.stream().mapToDouble(d -> d).toArray()));
    }

    private static long count(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void execute(DataSource source, String... statements) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
