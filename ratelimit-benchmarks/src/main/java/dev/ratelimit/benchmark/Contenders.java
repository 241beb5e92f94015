package dev.ratelimit.benchmark;

import dev.ratelimit.Limit;
import dev.ratelimit.benchmark.LoadedPeer.Opening;
import dev.ratelimit.benchmark.load.DatabaseTime;
import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.load.Servers;
import dev.ratelimit.benchmark.peer.BareGroupUpdate;
import dev.ratelimit.benchmark.peer.Bucket4jPeers;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.PostgresPeers;
import dev.ratelimit.benchmark.peer.RedisLua;
import dev.ratelimit.benchmark.peer.Stores;
import dev.ratelimit.store.LimitStore;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import javax.sql.DataSource;

/**
 * Everything that can be measured on servers; {@link LocalContenders} has the rest. Nothing is opened before it is warmed up.
 */
final class Contenders {

    /** As many as serve the peers best on two cores. */
    private static final int PEER_CONNECTIONS = 16;

    private static final int OUR_CONNECTIONS = 4;
    static final int KEYS = 10_000;
    static final long PLENTY = MeasuredLimits.PLENTY;

    static final Load ONE = new Load(1, KEYS);
    private static final Load EIGHT = new Load(8, KEYS);
    static final Load MANY = new Load(64, KEYS);
    static final Load HOT = new Load(64, 1);
    private static final Load ON_100_KEYS = new Load(64, 100);
    static final Load LONE_SUBJECT = new Load(1, 1);

    static final Limit BUCKET = MeasuredLimits.bucket("bucket");

    private final Servers servers;
    private final ProcessHandle database;
    private int names;

    Contenders(Servers servers) throws SQLException {
        this.servers = servers;
        this.database = servers.postgres();
    }

    private LoadedPeer onPostgres(String name, Load load, Opening opening) {
        return LoadedPeer.lasting(name, load, () -> DatabaseTime.now(database), opening);
    }

    static LoadedPeer elsewhere(String name, Load load, Opening opening) {
        return LoadedPeer.lasting(name, load, () -> DatabaseTime.NOT_MEASURED, opening);
    }

    // The limiter on PostgreSQL

    Contender oneCaller() {
        return onPostgres("postgresql 1 caller", ONE, n -> ours(ONE, BUCKET));
    }

    Contender eightCallers() {
        return onPostgres("postgresql 8 callers", EIGHT, n -> ours(EIGHT, BUCKET));
    }

    Contender manyCallers() {
        return onPostgres("postgresql 64 callers", MANY, n -> ours(MANY, BUCKET));
    }

    /** The store for engines without cheap row locks, on PostgreSQL itself. */
    Contender manyCallersBySwaps() {
        return onPostgres("postgresql-swap 64 callers", MANY, n -> {
            LimitStore store = Stores.newPostgresSwaps(servers.pool(OUR_CONNECTIONS), newName("swap"));
            return Ours.askingAll(List.of(store), store.groupsAtOnce(), MANY.keys(), List.of(BUCKET), () -> {});
        });
    }

    Contender hotKey() {
        return onPostgres("postgresql hot key", HOT, n -> ours(HOT, BUCKET));
    }

    Contender leasedHotKey() {
        return onPostgres(
                "postgresql hot key, leased", HOT, n -> ours(HOT, MeasuredLimits.leasedBucket("leased", 100)));
    }

    Contender threeInstances() {
        return onPostgres("postgresql 3 instances, hot key", HOT, n -> {
            String schema = newName("ours");
            List<LimitStore> stores = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                stores.add(Stores.newPostgres(servers.pool(OUR_CONNECTIONS), schema));
            }
            return Ours.askingAll(stores, Stores.GROUPS_ON_POSTGRES, HOT.keys(), List.of(BUCKET), () -> {});
        });
    }

    Contender twoLimits() {
        return onPostgres("postgresql two limits", MANY, n -> ours(MANY, BUCKET, MeasuredLimits.bucket("second")));
    }

    Contender fixedWindow() {
        return onPostgres("postgresql fixed-window", MANY, n -> ours(MANY, MeasuredLimits.fixedWindow("fixed")));
    }

    Contender slidingWindow() {
        return onPostgres("postgresql sliding-window", MANY, n -> ours(MANY, MeasuredLimits.slidingWindow("sliding")));
    }

    Contender leakyBucket() {
        return onPostgres("postgresql leaky-bucket", MANY, n -> ours(MANY, MeasuredLimits.leakyBucket("leaky")));
    }

    /** A hundred requests are in every log from the start, since a log costs by its length. */
    Contender slidingLog() {
        Load load = new Load(64, 2_000);
        return onPostgres(
                "postgresql sliding-log",
                load,
                n -> ours(load, MeasuredLimits.slidingLog("log", 10_000)).charged(100));
    }

    /** One limit with the numbers of two tiers, each for half of the keys. */
    Contender twoTiers() {
        return onPostgres(
                "postgresql two tiers",
                MANY,
                n -> mixed(MeasuredLimits.bucket("tiered", PLENTY), MeasuredLimits.bucket("tiered", PLENTY / 2)));
    }

    /** A third of the keys each. */
    Contender threeAlgorithms() {
        return onPostgres(
                "postgresql three algorithms",
                MANY,
                n -> mixed(BUCKET, MeasuredLimits.fixedWindow("fixed"), MeasuredLimits.slidingWindow("sliding")));
    }

    Contender calendar() {
        return onPostgres("postgresql calendar", MANY, n -> ours(MANY, MeasuredLimits.calendarMonth("calendar")));
    }

    Contender halfDenied() {
        return denied("postgresql half denied, penalties", MANY, key -> key % 2 == 0);
    }

    Contender fivePercentDenied() {
        return denied("postgresql 5 % denied, penalties", MANY, key -> key % 20 == 0);
    }

    Contender loneDenied() {
        return denied("postgresql denied 1 caller, penalties", LONE_SUBJECT, key -> true);
    }

    /** All requests of the keys that are used up are denied and counted as violations. */
    private Contender denied(String name, Load load, IntPredicate usedUp) {
        return onPostgres(name, load, n -> {
            DataSource pool = servers.pool(OUR_CONNECTIONS);
            String schema = newName("ours");
            return Ours.askingAll(
                            List.of(Stores.newPostgres(pool, schema)),
                            Stores.GROUPS_ON_POSTGRES,
                            load.keys(),
                            List.of(MeasuredLimits.bucketWithPenalties("penalised")),
                            () -> {})
                    .countingViolations(pool, schema)
                    .usedUp(usedUp);
        });
    }

    Contender reserveAndRefund() {
        return onPostgres(
                "postgresql reserve and refund", MANY, n -> ours(MANY, BUCKET).reserving());
    }

    Contender hundredKeys() {
        return onPostgres("postgresql 100 keys", ON_100_KEYS, n -> ours(ON_100_KEYS, BUCKET));
    }

    Contender minInterval() {
        return onPostgres(
                "postgresql min-interval 100 keys",
                ON_100_KEYS,
                n -> ours(ON_100_KEYS, MeasuredLimits.bucketWithMinInterval("interval")));
    }

    private Ours ours(Load load, Limit... limits) {
        return Ours.askingAll(List.of(newStore()), Stores.GROUPS_ON_POSTGRES, load.keys(), List.of(limits), () -> {});
    }

    private Ours mixed(Limit... limits) {
        return Ours.askingOneEach(newStore(), Stores.GROUPS_ON_POSTGRES, KEYS, List.of(limits));
    }

    private LimitStore newStore() {
        return Stores.newPostgres(servers.pool(OUR_CONNECTIONS), newName("ours"));
    }

    /** The name of a schema or a table that is not there yet. */
    private String newName(String prefix) {
        return prefix + ++names;
    }

    // Peers on PostgreSQL

    Contender bucket4jOneCaller() {
        return onPostgres("bucket4j-postgresql 1 caller", ONE, n -> bucket4j(1, ONE));
    }

    Contender bucket4jEightCallers() {
        return onPostgres("bucket4j-postgresql 8 callers", EIGHT, n -> bucket4j(1, EIGHT));
    }

    Contender bucket4jManyCallers() {
        return onPostgres("bucket4j-postgresql 64 callers", MANY, n -> bucket4j(1, MANY));
    }

    Contender bucket4jHotKey() {
        return onPostgres("bucket4j-postgresql hot key", HOT, n -> bucket4j(1, HOT));
    }

    Contender bucket4jThreeInstances() {
        return onPostgres("bucket4j-postgresql 3 instances, hot key", HOT, n -> bucket4j(3, HOT));
    }

    private Peer bucket4j(int instances, Load load) throws SQLException {
        List<DataSource> pools = new ArrayList<>();
        for (int i = 0; i < instances; i++) {
            pools.add(servers.pool(PEER_CONNECTIONS));
        }
        return Bucket4jPeers.postgres(pools, newName("bucket4j"), PLENTY, load.keys());
    }

    Contender functionPerDecision() {
        return onPostgres(
                "function-per-decision 64 callers",
                MANY,
                n -> PostgresPeers.functionPerDecision(
                        servers.pool(PEER_CONNECTIONS), newName("per_decision"), PLENTY));
    }

    Contender rawUpdateOneCaller() {
        return rawUpdate("raw-update 1 caller", ONE);
    }

    Contender rawUpdateManyCallers() {
        return rawUpdate("raw-update 64 callers", MANY);
    }

    private Contender rawUpdate(String name, Load load) {
        return onPostgres(
                name, load, n -> PostgresPeers.bareUpdate(servers.pool(PEER_CONNECTIONS), newName("raw"), load.keys()));
    }

    /** The limiter's own groups and rows; the connections are as many as the limiter has. */
    Contender rawGroupUpdate() {
        return onPostgres("raw-group-update 64 callers", MANY, n -> {
            DataSource pool = servers.pool(OUR_CONNECTIONS);
            String schema = newName("bare");
            LimitStore writing = Stores.newPostgres(pool, schema);
            Ours.askingAll(List.of(writing), Stores.GROUPS_ON_POSTGRES, KEYS, List.of(BUCKET), () -> {})
                    .charged(1)
                    .close();
            return Ours.askingAll(
                    List.of(new BareGroupUpdate(pool, schema)),
                    Stores.GROUPS_ON_POSTGRES,
                    KEYS,
                    List.of(BUCKET),
                    () -> {});
        });
    }

    // Nine in ten are denied. Each caller asks so often that both sides take about as long as the others.

    Contender denied90() {
        Load load = new Load(64, 64);
        Supplier<LimitStore> store = once(this::newStore);
        return LoadedPeer.mostlyDenying("postgresql denied-90", load, () -> DatabaseTime.now(database), 8_000, n -> {
            List<Limit> limits = List.of(MeasuredLimits.bucket("denied" + n, 800));
            return Ours.askingAll(List.of(store.get()), Stores.GROUPS_ON_POSTGRES, load.keys(), limits, () -> {});
        });
    }

    Contender bucket4jDenied90() {
        Load load = new Load(64, 64);
        Supplier<DataSource> pool = once(() -> servers.pool(PEER_CONNECTIONS));
        return LoadedPeer.mostlyDenying(
                "bucket4j-postgresql denied-90",
                load,
                () -> DatabaseTime.now(database),
                50,
                n -> Bucket4jPeers.postgres(List.of(pool.get()), newName("bucket4j"), 5, load.keys()));
    }

    /** Opens it when it is first needed, for all turns: a new pool in each would use up the server's connections. */
    private static <T> Supplier<T> once(Supplier<T> opening) {
        return new Supplier<>() {
            private T opened;

            @Override
            public T get() {
                if (opened == null) {
                    opened = opening.get();
                }
                return opened;
            }
        };
    }

    // Redis

    Contender redisLua() {
        return elsewhere("redis-lua 64 callers", MANY, n -> RedisLua.bucket(servers.redis(), "lua:", PLENTY));
    }

    Contender durableRedisLua() {
        return elsewhere(
                "redis-lua-durable 64 callers", MANY, n -> RedisLua.bucket(servers.durableRedis(), "lua:", PLENTY));
    }

    /** Denied without asking the store: the limiter remembers it. */
    Contender deniedSubject() {
        return elsewhere(
                "denied subject",
                LONE_SUBJECT,
                n -> ours(LONE_SUBJECT, MeasuredLimits.bucket("used-up", 5)).usedUp(key -> true));
    }
}
