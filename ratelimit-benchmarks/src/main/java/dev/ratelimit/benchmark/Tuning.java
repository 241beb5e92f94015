package dev.ratelimit.benchmark;

import dev.ratelimit.Limit;
import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.load.Servers;
import dev.ratelimit.benchmark.load.Spread;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Stores;
import dev.ratelimit.store.LimitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How many groups to have in flight on PostgreSQL: the same load on one to four of them, in turn and over and over; with the
 * database on this machine, and as if it were a millisecond away.
 */
public final class Tuning {

    private static final int REPETITIONS = 7;
    private static final double WARM_UP = 4;
    private static final double SECONDS = 1;
    private static final int MOST_GROUPS = 4;
    private static final Limit LIMIT = MeasuredLimits.bucket("bucket");

    private Tuning() {}

    public static void main(String[] arguments) throws Exception {
        try (Servers servers = Servers.start()) {
            System.out.println(servers.settings());
            Stores.newPostgres(servers.pool(2), "tuning");
            for (Duration away : List.of(Duration.ZERO, Duration.ofMillis(1))) {
                for (Load load :
                        List.of(new Load(8, 10_000), new Load(64, 10_000), new Load(200, 10_000), new Load(64, 1))) {
                    measure(servers, away, load);
                }
            }
        }
        System.exit(0); // the clients of Redis leave threads behind
    }

    private static void measure(Servers servers, Duration away, Load load) throws Exception {
        List<Ours> contenders = new ArrayList<>();
        double[][] rates = new double[MOST_GROUPS][REPETITIONS];
        for (int groups = 1; groups <= MOST_GROUPS; groups++) {
            LimitStore store = Stores.postgres(servers.pool(MOST_GROUPS, away), "tuning");
            contenders.add(Ours.askingAll(List.of(store), groups, load.keys(), List.of(LIMIT), () -> {}));
            load.run(contenders.get(groups - 1), WARM_UP);
        }
        for (int i = 0; i < REPETITIONS; i++) {
            for (int groups = 1; groups <= MOST_GROUPS; groups++) {
                rates[groups - 1][i] =
                        load.run(contenders.get(groups - 1), SECONDS).perSecond();
            }
        }
        for (int groups = 1; groups <= MOST_GROUPS; groups++) {
            System.out.printf(
                    Locale.ROOT,
                    "ratio groups-in-flight %d/1, %d callers on %d keys, %d ms away: %.2f%n",
                    groups,
                    load.callers(),
                    load.keys(),
                    away.toMillis(),
                    Spread.median(rates[groups - 1]) / Spread.median(rates[0]));
        }
        for (Ours contender : contenders) {
            contender.close();
        }
        servers.closePools();
    }
}
