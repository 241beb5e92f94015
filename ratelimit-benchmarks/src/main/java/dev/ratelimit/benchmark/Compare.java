package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.Servers;
import dev.ratelimit.benchmark.load.Turn;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures the rate limiter beside its peers. Only ratios of one run mean anything, and each comes from turns in which both
 * sides are measured right after one another: see {@link Family}.
 */
public final class Compare {

    private static final double WARM_UP = 2.5;
    private static final double SECONDS = 0.7;

    private Compare() {}

    public static void main(String[] arguments) throws Exception {
        String only = System.getProperty("benchmark.only", "");
        int turns = Integer.getInteger("benchmark.turns", Rounds.DEFAULT_TURNS);
        Path root = Path.of(System.getProperty("benchmark.root", ".")).toRealPath();
        long start = System.nanoTime();
        try (Servers servers = Servers.start()) {
            String settings = servers.settings();
            System.out.println(settings);
            List<Family> families = Family.chosen(families(servers), only);
            Report report = new Report(settings);
            try {
                new Rounds(turns, WARM_UP, SECONDS).run(families);
                servers.closePools();
                report.decisions(families);
                if (InProcess.ALLOCATION.contains(only)) {
                    report.inProcess(InProcess.measure());
                }
                report.requests(WholeRequests.measure(servers, root, only, turns));
                if (only.isEmpty() && turns >= Rounds.DEFAULT_TURNS) {
                    report.write(root.resolve("docs"));
                }
            } finally {
                report.print();
            }
        }
        System.out.printf(Locale.ROOT, "took %.1f minutes%n", (System.nanoTime() - start) / 60e9);
        System.exit(0); // the clients of Redis leave threads behind
    }

    private static List<Family> families(Servers servers) throws Exception {
        Contenders contenders = new Contenders(servers);
        LocalContenders local = new LocalContenders(servers.folder());
        RedisContenders redis = new RedisContenders(servers);
        List<Family> families = new ArrayList<>();
        Contender one = contenders.oneCaller();
        Contender many = contenders.manyCallers();
        loneCallers(contenders, one, families);
        Contender bucket4jRedis = redis.bucket4jManyCallers();
        manyCallers(contenders, many, bucket4jRedis, families);
        hotKeys(contenders, families);
        kindsOfLimits(contenders, many, families);
        denials(contenders, local, one, many, families);
        sqlite(local, families);
        inProcess(local, families);
        redis(redis, bucket4jRedis, families);
        return families;
    }

    private static void loneCallers(Contenders contenders, Contender one, List<Family> families) {
        Contender bucket4j = contenders.bucket4jOneCaller();
        Contender rawUpdate = contenders.rawUpdateOneCaller();
        families.add(new Family(one, bucket4j, rawUpdate)
                .ratio("postgresql-1-caller/bucket4j", one, bucket4j, Goal.atLeast(1.3))
                .ratio("postgresql-1-caller/raw-update", one, rawUpdate, Goal.atLeast(0.8)));
    }

    private static void manyCallers(Contenders contenders, Contender many, Contender redis, List<Family> families) {
        Contender eight = contenders.eightCallers();
        Contender bucket4jOfEight = contenders.bucket4jEightCallers();
        families.add(new Family(eight, bucket4jOfEight)
                .ratio("postgresql-8-callers/bucket4j", eight, bucket4jOfEight, Goal.NONE));

        Contender bucket4j = contenders.bucket4jManyCallers();
        Contender function = contenders.functionPerDecision();
        Contender rawUpdate = contenders.rawUpdateManyCallers();
        families.add(new Family(many, bucket4j, function, rawUpdate)
                .ratio(
                        "postgresql-64-callers/bucket4j",
                        many,
                        bucket4j,
                        Goal.atLeast(5.5).stretch(7))
                .ratio("postgresql-64-callers/function-per-decision", many, function, Goal.atLeast(4.5))
                .ratio("postgresql-64-callers/raw-update", many, rawUpdate, Goal.NONE)
                .ratio("p99-at-64-callers/bucket4j", List.of(many), bucket4j, Turn::p99, Goal.atMost(0.1)));

        Contender lua = contenders.redisLua();
        Contender durableLua = contenders.durableRedisLua();
        families.add(new Family(many, redis, durableLua, lua)
                .ratio(
                        "postgresql-64-callers/bucket4j-redis",
                        many,
                        redis,
                        Goal.atLeast(1.0).stretch(1.3))
                .ratio("postgresql-64-callers/redis-lua-durable", many, durableLua, Goal.atLeast(1))
                .ratio("postgresql-64-callers/redis-lua", many, lua, Goal.NONE));

        Contender rawGroup = contenders.rawGroupUpdate();
        families.add(new Family(many, rawGroup)
                .ratio("postgresql-64-callers/raw-group-update", many, rawGroup, Goal.atLeast(0.8)));

        Contender swaps = contenders.manyCallersBySwaps();
        families.add(new Family(many, swaps)
                .ratio("postgresql-swap-64-callers/postgresql-64-callers", swaps, many, Goal.NONE));
    }

    private static void hotKeys(Contenders contenders, List<Family> families) {
        Contender hot = contenders.hotKey();
        Contender leased = contenders.leasedHotKey();
        Contender bucket4j = contenders.bucket4jHotKey();
        families.add(new Family(hot, bucket4j, leased)
                .ratio("postgresql-hot-key/bucket4j", hot, bucket4j, Goal.atLeast(30))
                .ratio("leased-hot-key/group-hot-key", leased, hot, Goal.atLeast(2)));

        Contender three = contenders.threeInstances();
        Contender bucket4jThree = contenders.bucket4jThreeInstances();
        families.add(new Family(three, bucket4jThree)
                .ratio("postgresql-3-instances-hot-key/bucket4j", three, bucket4jThree, Goal.atLeast(20)));
    }

    private static void kindsOfLimits(Contenders contenders, Contender many, List<Family> families) {
        Contender twoLimits = contenders.twoLimits();
        Contender twoTiers = contenders.twoTiers();
        families.add(new Family(many, twoLimits, twoTiers)
                .ratio("two-limits/one-limit", twoLimits, many, Goal.atLeast(0.6))
                .ratio("two-tiers/one-limit", twoTiers, many, Goal.atLeast(0.85)));

        List<Contender> others = List.of(
                contenders.fixedWindow(),
                contenders.slidingWindow(),
                contenders.leakyBucket(),
                contenders.slidingLog());
        families.add(new Family(many, others.get(0), others.get(1), others.get(2), others.get(3))
                .ratio("five-algorithms/token-bucket", others, many, Turn::perSecond, Goal.atLeast(0.6)));

        Contender threeAlgorithms = contenders.threeAlgorithms();
        Contender calendar = contenders.calendar();
        families.add(new Family(many, threeAlgorithms, calendar)
                .ratio("three-algorithms/token-bucket", threeAlgorithms, many, Goal.atLeast(0.8))
                .ratio("calendar/token-bucket", calendar, many, Goal.atLeast(0.9)));

        Contender reserving = contenders.reserveAndRefund();
        families.add(new Family(many, reserving)
                .ratio("reserve-and-refund/token-bucket", reserving, many, Goal.atLeast(0.4)));

        Contender hundredKeys = contenders.hundredKeys();
        Contender minInterval = contenders.minInterval();
        families.add(new Family(hundredKeys, minInterval)
                .ratio("min-interval-100-keys/token-bucket", minInterval, hundredKeys, Goal.atLeast(0.85)));
    }

    private static void denials(
            Contenders contenders, LocalContenders local, Contender one, Contender many, List<Family> families) {
        Contender half = contenders.halfDenied();
        Contender few = contenders.fivePercentDenied();
        families.add(new Family(many, half, few)
                .ratio("half-denied-with-penalties/token-bucket", half, many, Goal.atLeast(0.65))
                .ratio("5-percent-denied/token-bucket", few, many, Goal.atLeast(0.75)));

        Contender lone = contenders.loneDenied();
        families.add(
                new Family(one, lone).ratio("denied-1-caller-with-penalties/1-caller", lone, one, Goal.atLeast(0.4)));

        Contender most = contenders.denied90();
        Contender bucket4jMost = contenders.bucket4jDenied90();
        families.add(new Family(most, bucket4jMost).ratio("denied-90/bucket4j", most, bucket4jMost, Goal.atLeast(40)));

        Contender remembered = contenders.deniedSubject();
        Contender bucket4j = local.bucket4jLocalDenied();
        Contender resilience4j = local.resilience4jDenied();
        families.add(new Family(remembered, bucket4j, resilience4j)
                .ratio("denied-subject/bucket4j-local", remembered, bucket4j, Goal.atLeast(0.7))
                .ratio("denied-subject/resilience4j-local", remembered, resilience4j, Goal.NONE));
    }

    private static void sqlite(LocalContenders local, List<Family> families) {
        Contender one = local.sqliteOneCaller();
        Contender eachOfOne = local.sqliteEachOneCaller();
        families.add(new Family(one, eachOfOne)
                .ratio("sqlite-1-caller/one-transaction-each", one, eachOfOne, Goal.atLeast(0.85)));

        Contender many = local.sqliteManyCallers();
        Contender eachOfMany = local.sqliteEachManyCallers();
        families.add(new Family(many, eachOfMany)
                .ratio("sqlite-64-callers/one-transaction-each", many, eachOfMany, Goal.atLeast(1.8)));

        Contender full = local.sqliteFull();
        Contender eachFull = local.sqliteEachFull();
        families.add(new Family(full, eachFull)
                .ratio("sqlite-64-callers-full/one-transaction-each-full", full, eachFull, Goal.atLeast(7)));
    }

    private static void inProcess(LocalContenders local, List<Family> families) {
        Contender one = local.memoryOneThread();
        Contender bucket4jOne = local.bucket4jLocalOneThread();
        families.add(new Family(one, bucket4jOne)
                .ratio("memory-1-thread/bucket4j-local", one, bucket4jOne, Goal.atLeast(0.5)));

        Contender many = local.memoryManyThreads();
        Contender bucket4jMany = local.bucket4jLocalManyThreads();
        families.add(new Family(many, bucket4jMany)
                .ratio("memory-64-threads/bucket4j-local", many, bucket4jMany, Goal.atLeast(0.4)));
    }

    private static void redis(RedisContenders redis, Contender bucket4jMany, List<Family> families) {
        Contender one = redis.oneCaller();
        Contender bucket4jOne = redis.bucket4jOneCaller();
        Contender luaOne = redis.luaOneCaller();
        Contender emptyOne = redis.emptyScriptOneCaller();
        families.add(new Family(one, bucket4jOne, luaOne, emptyOne)
                .ratio("redis-1-caller/bucket4j-redis", one, bucket4jOne, Goal.atLeast(2))
                .ratio("redis-1-caller/redis-lua", one, luaOne, Goal.NONE)
                .ratio("redis-lua-1-caller/bucket4j-redis", luaOne, bucket4jOne, Goal.NONE)
                .ratio("redis-empty-script-1-caller/bucket4j-redis", emptyOne, bucket4jOne, Goal.NONE));

        Contender many = redis.manyCallers();
        families.add(new Family(many, bucket4jMany)
                .ratio("redis-64-callers/bucket4j-redis", many, bucket4jMany, Goal.atLeast(2)));

        Contender hot = redis.hotKey();
        Contender leased = redis.leasedHotKey();
        Contender bucket4jHot = redis.bucket4jHotKey();
        families.add(new Family(hot, bucket4jHot, leased)
                .ratio("redis-hot-key/bucket4j-redis", hot, bucket4jHot, Goal.atLeast(50))
                .ratio("redis-leased-hot-key/redis-hot-key", leased, hot, Goal.atLeast(3)));

        Contender three = redis.threeInstances();
        Contender bucket4jThree = redis.bucket4jThreeInstances();
        families.add(new Family(three, bucket4jThree)
                .ratio("redis-3-instances/bucket4j-redis", three, bucket4jThree, Goal.atLeast(1.2)));

        Contender threeHot = redis.threeInstancesHotKey();
        Contender bucket4jThreeHot = redis.bucket4jThreeInstancesHotKey();
        families.add(new Family(threeHot, bucket4jThreeHot)
                .ratio("redis-3-instances-hot-key/bucket4j-redis", threeHot, bucket4jThreeHot, Goal.atLeast(35)));

        Contender cluster = redis.cluster();
        Contender bucket4jCluster = redis.bucket4jCluster();
        families.add(new Family(cluster, bucket4jCluster)
                .ratio("redis-cluster-64-callers/bucket4j-redis-cluster", cluster, bucket4jCluster, Goal.atLeast(1)));
    }
}
