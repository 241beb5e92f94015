package dev.ratelimit.benchmark;

import dev.ratelimit.Limit;
import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.load.Servers;
import dev.ratelimit.benchmark.load.Spread;
import dev.ratelimit.benchmark.load.Usage;
import dev.ratelimit.benchmark.peer.Bucket4jPeers;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.PostgresPeers;
import dev.ratelimit.benchmark.peer.Stores;
import dev.ratelimit.store.LimitStore;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Measures the wait of a lone caller on PostgreSQL: its own processor, that of the database, or neither of them, which is the disk
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
        LimitStore store = Stores.newPostgres(servers.pool(4), SCHEMA);
        List<Limit> limits = List.of(MeasuredLimits.bucket("bucket", BURST));
        Map<String, Peer> peers = new LinkedHashMap<>();
        peers.put("postgresql", Ours.askingAll(List.of(store), 2, KEYS, limits, () -> {}));
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
        return Spread.median(waits.stream().mapToDouble(part).toArray());
    }

    /** Microseconds of a decision: in all, and of which process. */
    private record Waits(double all, double java, double postgres) {

        static Waits of(Usage used, long decided) {
            double thousands = 1e3 * decided;
            return new Waits(used.clock() / thousands, used.java() / thousands, used.postgres() / thousands);
        }
    }
}
