package dev.ratelimit.benchmark;

import static dev.ratelimit.benchmark.Contenders.BUCKET;
import static dev.ratelimit.benchmark.Contenders.HOT;
import static dev.ratelimit.benchmark.Contenders.KEYS;
import static dev.ratelimit.benchmark.Contenders.MANY;
import static dev.ratelimit.benchmark.Contenders.ONE;
import static dev.ratelimit.benchmark.Contenders.PLENTY;

import dev.ratelimit.Limit;
import dev.ratelimit.benchmark.LoadedPeer.Opening;
import dev.ratelimit.benchmark.load.DatabaseTime;
import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.load.Servers;
import dev.ratelimit.benchmark.peer.Bucket4jPeers;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.RedisLua;
import dev.ratelimit.benchmark.peer.Stores;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.redis.Acknowledge;
import io.lettuce.core.AbstractRedisClient;
import java.util.ArrayList;
import java.util.List;

/** The limiter and its peer on Redis: one server, and a cluster of three on the same machine. */
final class RedisContenders {

    private static final int INSTANCES = 3;

    private final Servers servers;
    private final ProcessHandle server;
    private int names;

    RedisContenders(Servers servers) {
        this.servers = servers;
        this.server = Servers.process(servers.redis());
    }

    private LoadedPeer onRedis(String name, Load load, Opening opening) {
        return LoadedPeer.lasting(name, load, () -> DatabaseTime.now(List.of(server)), opening);
    }

    private LoadedPeer onCluster(String name, Load load, Opening opening) {
        return LoadedPeer.lasting(
                name, load, () -> DatabaseTime.now(Servers.processes(servers.redisCluster())), opening);
    }

    Contender oneCaller() {
        return onRedis("redis 1 caller", ONE, n -> ours(servers.redis(), 1, ONE, BUCKET));
    }

    Contender manyCallers() {
        return onRedis("redis 64 callers", MANY, n -> ours(servers.redis(), 1, MANY, BUCKET));
    }

    Contender hotKey() {
        return onRedis("redis hot key", HOT, n -> ours(servers.redis(), 1, HOT, BUCKET));
    }

    Contender leasedHotKey() {
        return onRedis(
                "redis hot key, leased",
                HOT,
                n -> ours(servers.redis(), 1, HOT, MeasuredLimits.leasedBucket("leased", 100)));
    }

    Contender threeInstances() {
        return onRedis("redis 3 instances", MANY, n -> ours(servers.redis(), INSTANCES, MANY, BUCKET));
    }

    Contender threeInstancesHotKey() {
        return onRedis("redis 3 instances, hot key", HOT, n -> ours(servers.redis(), INSTANCES, HOT, BUCKET));
    }

    Contender cluster() {
        return onCluster("redis-cluster 64 callers", MANY, n -> ours(servers.redisCluster(), 1, MANY, BUCKET));
    }

    private Ours ours(AbstractRedisClient client, int instances, Load load, Limit limit) {
        String prefix = "ours" + ++names + ":";
        List<LimitStore> stores = new ArrayList<>();
        for (int i = 0; i < instances; i++) {
            stores.add(Stores.redis(client, prefix, Acknowledge.MASTER));
        }
        return Ours.askingAll(
                stores,
                stores.get(0).groupsAtOnce(),
                load.keys(),
                List.of(limit),
                () -> stores.forEach(LimitStore::close));
    }

    /** A token bucket that is all Lua, in one call: it reads the clock and the bucket, writes it and sets its expiry. */
    Contender luaOneCaller() {
        return onRedis("redis-lua 1 caller", ONE, n -> RedisLua.bucket(servers.redis(), "lua" + ++names + ":", PLENTY));
    }

    Contender emptyScriptOneCaller() {
        return onRedis("redis-empty-script 1 caller", ONE, n -> RedisLua.empty(servers.redis()));
    }

    Contender bucket4jOneCaller() {
        return onRedis("bucket4j-redis 1 caller", ONE, n -> bucket4j(1, KEYS));
    }

    Contender bucket4jManyCallers() {
        return onRedis("bucket4j-redis 64 callers", MANY, n -> bucket4j(1, KEYS));
    }

    Contender bucket4jHotKey() {
        return onRedis("bucket4j-redis hot key", HOT, n -> bucket4j(1, 1));
    }

    Contender bucket4jThreeInstances() {
        return onRedis("bucket4j-redis 3 instances", MANY, n -> bucket4j(INSTANCES, KEYS));
    }

    Contender bucket4jThreeInstancesHotKey() {
        return onRedis("bucket4j-redis 3 instances, hot key", HOT, n -> bucket4j(INSTANCES, 1));
    }

    Contender bucket4jCluster() {
        return onCluster(
                "bucket4j-redis-cluster 64 callers",
                MANY,
                n -> Bucket4jPeers.redis(servers.redisCluster(), "b4j" + ++names + ":", PLENTY, KEYS));
    }

    private Peer bucket4j(int instances, int keys) {
        return Bucket4jPeers.redis(servers.redis(), instances, "b4j" + ++names + ":", PLENTY, keys);
    }
}
