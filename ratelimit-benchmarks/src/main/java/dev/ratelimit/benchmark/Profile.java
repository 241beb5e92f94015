package dev.ratelimit.benchmark;

import dev.ratelimit.Limit;
import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.load.Servers;
import dev.ratelimit.benchmark.load.Usage;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Stores;
import dev.ratelimit.store.LimitStore;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Where the time goes on PostgreSQL: with 64 callers, the use of the processors, the waits of the connections and the share of the
 * disk; and for a lone caller beside its peers. It shows the bounds of the ratios of {@link Compare}.
 */
public final class Profile {

    private static final String SCHEMA = "profile";
    private static final int GROUPS = 2;
    private static final double WARM_UP = 10;
    private static final double SECONDS = 15;
    private static final long BETWEEN_LOOKS = 4;
    private static final Load LOAD = new Load(64, 10_000);
    private static final Limit LIMIT = MeasuredLimits.bucket("bucket");

    private Profile() {}

    public static void main(String[] arguments) throws Exception {
        try (Servers servers = Servers.start();
                Connection watching = DriverManager.getConnection(servers.postgresUrl());
                Statement statement = watching.createStatement()) {
            System.out.println(servers.settings());
            statement.execute("ALTER SYSTEM SET track_wal_io_timing = on");
            statement.execute("SELECT pg_reload_conf()");
            LimitStore store = Stores.newPostgres(servers.pool(GROUPS), SCHEMA);
            try (Ours limiter = Ours.askingAll(List.of(store), GROUPS, LOAD.keys(), List.of(LIMIT), () -> {})) {
                LOAD.run(limiter, WARM_UP);
                statement.execute("SELECT pg_stat_reset_shared('io'), pg_stat_reset_shared('wal')");
                measure(servers, servers.postgres(), limiter);
            }
            // A backend reports its counts when its connection ends.
            servers.closePools();
            Thread.sleep(1_000);
            printLog(statement);
            LoneCaller.measure(servers, servers.postgres());
        }
        System.exit(0); // the clients of Redis leave threads behind
    }

    private static void measure(Servers servers, ProcessHandle server, Ours limiter) throws Exception {
        Usage before = Usage.now(server);
        AtomicBoolean over = new AtomicBoolean();
        Map<String, Integer> looks = new TreeMap<>();
        Thread watch = new Thread(() -> look(servers, looks, over), "profile");
        watch.start();
        Load.Result result = LOAD.run(limiter, SECONDS);
        over.set(true);
        watch.join();
        System.out.printf(
                Locale.ROOT,
                "%n%,.0f decisions/s, p50 %.0f µs, p99 %.0f µs%n",
                result.perSecond(),
                result.p50(),
                result.p99());
        print(Usage.now(server).since(before), result.decided());
        int all = looks.values().stream().mapToInt(Integer::intValue).sum();
        System.out.printf("%nwhat the %d connections do%n", GROUPS);
        looks.forEach((what, times) -> System.out.printf(Locale.ROOT, "  %-52s %3.0f %%%n", what, 100.0 * times / all));
    }

    private static void print(Usage usage, long decisions) {
        System.out.printf("%nwho has the processors%n");
        line("PostgreSQL", usage.postgres(), usage, decisions);
        line("workers, who ask for others", usage.workers(), usage, decisions);
        line("callers, and the rest of the Java process", usage.java() - usage.workers(), usage, decisions);
        System.out.printf(Locale.ROOT, "  %-44s %3.0f %%%n", "idle", 100 * usage.idle());
    }

    private static void line(String who, long nanos, Usage usage, long decisions) {
        double all = usage.clock() * (double) Runtime.getRuntime().availableProcessors();
        System.out.printf(
                Locale.ROOT,
                "  %-44s %3.0f %%  %5.1f µs a decision%n",
                who,
                100 * nanos / all,
                nanos / 1e3 / decisions);
    }

    /** Looks at the connections again and again; it uses up a little of what it measures. */
    private static void look(Servers servers, Map<String, Integer> looks, AtomicBoolean over) {
        try (Connection connection = DriverManager.getConnection(servers.postgresUrl());
                PreparedStatement activity = connection.prepareStatement("""
                        SELECT CASE
                            WHEN state = 'idle' THEN 'wait for the next group'
                            WHEN wait_event = 'WALWrite' THEN 'wait for the flush of another connection'
                            WHEN wait_event IN ('WalSync', 'WalWrite') THEN 'flush the log'
                            WHEN wait_event IS NULL THEN 'work, or wait for a processor'
                            ELSE 'other' END
                        FROM pg_stat_activity
                        WHERE query LIKE 'INSERT INTO "profile".%' AND pid <> pg_backend_pid()""")) {
            while (!over.get()) {
                Thread.sleep(BETWEEN_LOOKS);
                try (ResultSet row = activity.executeQuery()) {
                    while (row.next()) {
                        looks.merge(row.getString(1), 1, Integer::sum);
                    }
                }
            }
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException("the connections cannot be watched", e);
        }
    }

    private static void printLog(Statement statement) throws SQLException {
        System.out.printf("%nthe log%n");
        try (ResultSet row = statement.executeQuery("""
                SELECT sum(fsyncs), sum(fsync_time) * 1000 / sum(fsyncs), sum(write_bytes) / sum(writes)
                FROM pg_stat_io WHERE object = 'wal' AND context = 'normal'""")) {
            row.next();
            System.out.printf(
                    Locale.ROOT,
                    "  %,.0f flushes/s, %.0f µs each, of %,.0f bytes%n",
                    row.getDouble(1) / SECONDS,
                    row.getDouble(2),
                    row.getDouble(3));
        }
        try (ResultSet row = statement.executeQuery("SELECT wal_records, wal_bytes FROM pg_stat_wal")) {
            row.next();
            System.out.printf(
                    Locale.ROOT,
                    "  %,.0f records/s, %,.0f bytes/s%n",
                    row.getDouble(1) / SECONDS,
                    row.getDouble(2) / SECONDS);
        }
    }
}
