package dev.ratelimit.benchmark;

import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.benchmark.peer.Bucket4jPeers;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.PostgresPeers;
import dev.ratelimit.benchmark.peer.RedisLua;
import dev.ratelimit.benchmark.peer.SqlitePeer;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.jdbc.PostgresLimitStore;
import dev.ratelimit.store.jdbc.SqliteFile;
import dev.ratelimit.store.jdbc.SqliteLimitStore;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * Measures the rate limiter beside its peers: every contender in turn, and that over and over, so that what disturbs the
 * machine disturbs all alike. Only ratios of one run mean anything.
 */
public final class Compare {

    private static final int REPETITIONS = 7;
    private static final double WARM_UP = 3.0;
    private static final double SECONDS = 0.9;

    private static final int KEYS = 10_000;

    /** Enough that nobody is denied. */
    private static final long PLENTY = 20_000_000;

    /** So slow that nothing comes back while it is measured: what was admitted can be counted in the store. */
    private static final Rate SLOW = Rate.of(1, Duration.ofDays(1));

    /** As many as serve the peers best on two cores. */
    private static final int CONNECTIONS = 16;

    private static final Limit BUCKET = bucket("bucket", PLENTY).build();

    private final Servers servers;
    private final DataSource migrating;
    private final Map<String, Series> series = new LinkedHashMap<>();
    private int schemas;

    private Compare(Servers servers) {
        this.servers = servers;
        this.migrating = servers.pool(2);
    }

    public static void main(String[] arguments) throws Exception {
        String only = System.getProperty("benchmark.only", "");
        Path root = Path.of(System.getProperty("benchmark.root", ".")).toRealPath();
        long start = System.nanoTime();
        try (Servers servers = Servers.start()) {
            String settings = servers.settings();
            System.out.println(settings);
            Compare compare = new Compare(servers);
            compare.define();
            compare.series.keySet().removeIf(name -> !name.contains(only));
            compare.run();
            Report report = new Report(settings, compare.series);
            report.ratios();
            try {
                if (only.isEmpty()) {
                    report.inProcess(InProcess.measure());
                }
                if (only.isEmpty() || only.equals("http")) {
                    report.http(HttpLoad.measure(servers, root));
                }
                if (only.isEmpty()) {
                    report.write(root.resolve("docs"));
                }
            } finally {
                report.print();
            }
        }
        System.out.printf(Locale.ROOT, "took %.1f minutes%n", (System.nanoTime() - start) / 60e9);
        System.exit(0); // the clients of Redis leave threads behind
    }

    private void define() {
        Load one = new Load(1, KEYS);
        Load eight = new Load(8, KEYS);
        Load many = new Load(64, KEYS);
        Load hot = new Load(64, 1);

        add("postgresql 1 caller", one, n -> postgres(1, one, BUCKET));
        add("bucket4j-postgresql 1 caller", one, n -> bucket4jPostgres(1, one, "b4j_one", PLENTY));
        add("raw-update 1 caller", one, n -> PostgresPeers.bareUpdate(servers.pool(CONNECTIONS), "raw_one", KEYS));
        add("postgresql 8 callers", eight, n -> postgres(1, eight, BUCKET));
        add("bucket4j-postgresql 8 callers", eight, n -> bucket4jPostgres(1, eight, "b4j_eight", PLENTY));

        add("postgresql 64 callers", many, n -> postgres(1, many, BUCKET));
        add("bucket4j-postgresql 64 callers", many, n -> bucket4jPostgres(1, many, "b4j_many", PLENTY));
        add(
                "function-per-decision 64 callers",
                many,
                n -> PostgresPeers.functionPerDecision(servers.pool(CONNECTIONS), "per_decision", PLENTY));
        add("raw-update 64 callers", many, n -> PostgresPeers.bareUpdate(servers.pool(CONNECTIONS), "raw_many", KEYS));
        add("bucket4j-redis 64 callers", many, n -> Bucket4jPeers.redis(servers.redis(), "b4j:", PLENTY, KEYS));
        add("redis-lua 64 callers", many, n -> new RedisLua(servers.redis(), "lua:", PLENTY));
        add("redis-lua-durable 64 callers", many, n -> new RedisLua(servers.durableRedis(), "lua:", PLENTY));

        add("postgresql hot key", hot, n -> postgres(1, hot, BUCKET));
        add("bucket4j-postgresql hot key", hot, n -> bucket4jPostgres(1, hot, "b4j_hot", PLENTY));
        add(
                "postgresql hot key, leased",
                hot,
                n -> postgres(
                        1, hot, bucket("leased", PLENTY).lease(new Lease(100)).build()));
        add("postgresql 3 instances, hot key", hot, n -> postgres(3, hot, BUCKET));
        add("bucket4j-postgresql 3 instances, hot key", hot, n -> bucket4jPostgres(3, hot, "b4j_three", PLENTY));

        add(
                "postgresql two limits",
                many,
                n -> postgres(1, many, BUCKET, bucket("second", PLENTY).build()));
        add(
                "postgresql fixed-window",
                many,
                n -> postgres(
                        1,
                        many,
                        Limit.named("fixed")
                                .algorithm(new FixedWindow(PLENTY, Duration.ofDays(7)))
                                .build()));
        add(
                "postgresql sliding-window",
                many,
                n -> postgres(
                        1,
                        many,
                        Limit.named("sliding")
                                .algorithm(new SlidingWindow(PLENTY, Duration.ofDays(7)))
                                .build()));
        add(
                "postgresql leaky-bucket",
                many,
                n -> postgres(
                        1,
                        many,
                        Limit.named("leaky")
                                .algorithm(new LeakyBucket(PLENTY, SLOW))
                                .build()));
        add(
                "postgresql sliding-log",
                new Load(64, 2_000),
                n -> postgres(
                                1,
                                new Load(64, 2_000),
                                Limit.named("log")
                                        .algorithm(new SlidingLog(10_000, Duration.ofDays(7)))
                                        .build())
                        .charged(100));

        // Each caller asks so often that the peer takes about as long as the others; nine in ten are denied.
        Load denied = new Load(64, 64);
        series.put(
                "postgresql denied-90",
                Series.mostlyDenied(
                        "postgresql denied-90",
                        denied,
                        8_000,
                        n -> postgres(1, denied, bucket("denied" + n, 800).build())));
        series.put(
                "bucket4j-postgresql denied-90",
                Series.mostlyDenied(
                        "bucket4j-postgresql denied-90",
                        denied,
                        50,
                        n -> bucket4jPostgres(1, denied, "b4j_denied" + n, 5)));

        add("sqlite 1 caller", one, n -> sqlite("one", SqliteFile.Synchronous.NORMAL, one));
        add("sqlite-transaction-each 1 caller", one, n -> new SqlitePeer(file("one-each"), false, PLENTY));
        add("sqlite 64 callers", many, n -> sqlite("many", SqliteFile.Synchronous.NORMAL, many));
        add("sqlite-transaction-each 64 callers", many, n -> new SqlitePeer(file("many-each"), false, PLENTY));
        add("sqlite 64 callers, full", many, n -> sqlite("full", SqliteFile.Synchronous.FULL, many));
        add("sqlite-transaction-each 64 callers, full", many, n -> new SqlitePeer(file("full-each"), true, PLENTY));

        Load lone = new Load(1, 1);
        add(
                "denied subject",
                lone,
                n -> usedUp(postgres(1, lone, bucket("used-up", 5).build())));
        add("bucket4j-local denied", lone, n -> usedUp(Bucket4jPeers.local(5, 1)));
        add("resilience4j-local denied", lone, n -> usedUp(resilience4j()));
    }

    private void add(String name, Load load, Series.Opening opening) {
        series.put(name, Series.admitted(name, load, opening));
    }

    private void run() throws Exception {
        int number = 0;
        for (Series one : series.values()) {
            progress("warming up", ++number, one);
            one.warmUp(WARM_UP);
        }
        List<Series> order = new ArrayList<>(series.values());
        for (int repetition = 0; repetition < REPETITIONS; repetition++) {
            // In another order each time: what comes round once a minute, such as autovacuum, must not always meet the
            // same.
            Collections.shuffle(order, new Random(repetition));
            number = 0;
            for (Series one : order) {
                progress("run " + (repetition + 1) + " of " + REPETITIONS, ++number, one);
                one.measure(repetition, SECONDS);
            }
        }
        for (Series one : series.values()) {
            one.close();
        }
        servers.closePools();
    }

    private void progress(String what, int number, Series one) {
        System.out.printf("%s: %d of %d, %s%n", what, number, series.size(), one.name());
    }

    private static Limit.Builder bucket(String name, long burst) {
        return Limit.named(name).algorithm(new TokenBucket(burst, SLOW));
    }

    private Ours postgres(int instances, Load load, Limit... limits) {
        String schema = "ours" + ++schemas;
        Schema.migrate(migrating, schema);
        List<PostgresLimitStore> stores = IntStream.range(0, instances)
                .mapToObj(i -> new PostgresLimitStore(servers.pool(4), schema).withDeadline(Duration.ofSeconds(30)))
                .toList();
        return new Ours(stores, 2, load.keys(), Arrays.asList(limits), () -> {});
    }

    private Peer bucket4jPostgres(int instances, Load load, String table, long burst) throws Exception {
        List<DataSource> pools = new ArrayList<>();
        for (int i = 0; i < instances; i++) {
            pools.add(servers.pool(CONNECTIONS));
        }
        return Bucket4jPeers.postgres(pools, table, burst, load.keys());
    }

    private Ours sqlite(String name, SqliteFile.Synchronous synchronous, Load load) {
        SqliteFile file = SqliteFile.at(file(name)).synchronous(synchronous);
        Schema.migrate(file);
        SqliteLimitStore store = new SqliteLimitStore(file);
        return new Ours(List.of(store), 1, load.keys(), List.of(BUCKET), store);
    }

    private Path file(String name) {
        return servers.folder().resolve(name + ".db");
    }

    private static Peer resilience4j() {
        RateLimiter limiter = RateLimiter.of(
                "denied",
                RateLimiterConfig.custom()
                        .limitForPeriod(5)
                        .limitRefreshPeriod(Duration.ofDays(1))
                        .timeoutDuration(Duration.ZERO)
                        .build());
        return key -> limiter.acquirePermission();
    }

    private static Peer usedUp(Peer peer) throws Exception {
        while (peer.decide(0)) {
            // until it denies
        }
        return new Peer() {
            @Override
            public boolean decide(int key) throws Exception {
                return peer.decide(key);
            }

            @Override
            public void close() throws Exception {
                peer.close();
            }
        };
    }
}
