package dev.ratelimit.benchmark;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.benchmark.peer.Bucket4jPeers;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.PostgresPeers;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.jdbc.PostgresLimitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What a lone caller waits for on PostgreSQL: its own processor, that of the database, or neither of them, which is the disk
 * and the way between the processes.
 */
final class LoneCaller {

    private static final String SCHEMA = "lone";
    private static final int KEYS = 10_000;
    private static final long BURST = 20_000_000;
    private static final Load LOAD = new Load(1, KEYS);
    private static final int REPETITIONS = 7;
    private static final double SECONDS = 1.5;

    private LoneCaller() {}

    static void measure(Servers servers, ProcessHandle server) throws Exception {
        Schema.migrate(servers.pool(2), SCHEMA);
        Limit limit = Limit.named("bucket")
                .algorithm(new TokenBucket(BURST, Rate.of(1, Duration.ofDays(1))))
                .build();
        PostgresLimitStore store = new PostgresLimitStore(servers.pool(4), SCHEMA).withDeadline(Duration.ofSeconds(30));
        Map<String, Peer> peers = new LinkedHashMap<>();
        peers.put("postgresql", new Ours(List.of(store), 2, KEYS, List.of(limit), () -> {}));
        peers.put("raw-update", PostgresPeers.bareUpdate(servers.pool(4), "lone_update", KEYS));
        peers.put(
                "bucket4j-postgresql", Bucket4jPeers.postgres(List.of(servers.pool(4)), "lone_bucket4j", BURST, KEYS));
        System.out.printf("%na lone caller: what a decision waits for%n");
        Map<String, List<Waits>> measured = new LinkedHashMap<>();
        for (Map.Entry<String, Peer> peer : peers.entrySet()) {
            LOAD.run(peer.getValue(), 2 * SECONDS);
            measured.put(peer.getKey(), new ArrayList<>());
        }
        for (int i = 0; i < REPETITIONS; i++) {
            for (Map.Entry<String, Peer> peer : peers.entrySet()) {
                Usage before = Usage.now(server);
                long decided = LOAD.run(peer.getValue(), SECONDS).decided();
                measured.get(peer.getKey()).add(Waits.of(Usage.now(server).since(before), decided));
            }
        }
        measured.forEach(LoneCaller::print);
        for (Peer peer : peers.values()) {
            peer.close();
        }
    }

    private static void print(String name, List<Waits> waits) {
        double all = median(waits, Waits::all);
        double java = median(waits, Waits::java);
        double postgres = median(waits, Waits::postgres);
        System.out.printf(
                Locale.ROOT,
                "  %-20s %4.0f µs: %4.0f Java, %4.0f PostgreSQL, %4.0f neither%n",
                name,
                all,
                java,
                postgres,
                all - java - postgres);
    }

    private static double median(List<Waits> waits, ToDoubleFunction<Waits> part) {
        return Series.median(waits.stream().mapToDouble(part).toArray());
    }

    /** Microseconds of a decision: in all, and of which process. */
    private record Waits(double all, double java, double postgres) {

        static Waits of(Usage used, long decided) {
            double thousands = 1e3 * decided;
            return new Waits(used.clock() / thousands, used.java() / thousands, used.postgres() / thousands);
        }
    }
}
