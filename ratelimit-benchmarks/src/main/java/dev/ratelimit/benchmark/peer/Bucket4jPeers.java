package dev.ratelimit.benchmark.peer;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.postgresql.Bucket4jPostgreSQL;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce.LettuceBasedProxyManagerBuilder;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** Bucket4j 8, as its documentation says to use it: one bucket for each key, refilled greedily. */
public final class Bucket4jPeers {

    private Bucket4jPeers() {}

    private static Bandwidth bandwidth(long burst) {
        return Bandwidth.builder()
                .capacity(burst)
                .refillGreedy(1, Duration.ofDays(1))
                .build();
    }

    /** Buckets in this process, in an array: the least that finding one can cost. */
    public static Peer local(long burst, int keys) {
        return new Buckets(List.<Bucket[]>of(buckets(keys, key -> bucket(burst))), burst);
    }

    /** Buckets in this process, found by the name of their key as an application finds them. */
    public static Peer localByName(long burst, int keys) {
        ConcurrentMap<String, Bucket> buckets = new ConcurrentHashMap<>();
        String[] names = new String[keys];
        for (int key = 0; key < keys; key++) {
            names[key] = "user:user" + key;
        }
        return new Peer() {
            @Override
            public boolean decide(int key) {
                return buckets.computeIfAbsent(names[key], name -> bucket(burst))
                        .tryConsume(1);
            }

            @Override
            public void requireExact(int key, long admitted, long denied) {
                Bucket bucket = buckets.get(names[key]);
                Peer.requireSame("admitted", key, bucket == null ? 0 : burst - bucket.getAvailableTokens(), admitted);
            }
        };
    }

    private static Bucket bucket(long burst) {
        return Bucket.builder().addLimit(bandwidth(burst)).build();
    }

    /** As many buckets as keys on each instance; a thread always asks the same instance. */
    private record Buckets(List<Bucket[]> instances, long burst) implements Peer {

        @Override
        public boolean decide(int key) {
            int instance = instances.size() == 1
                    ? 0
                    : Math.floorMod(System.identityHashCode(Thread.currentThread()), instances.size());
            return instances.get(instance)[key].tryConsume(1);
        }

        @Override
        public void requireExact(int key, long admitted, long denied) {
            Peer.requireSame("admitted", key, burst - instances.get(0)[key].getAvailableTokens(), admitted);
        }
    }

    /**
     * @param pools one for each instance
     */
    public static Peer postgres(List<? extends DataSource> pools, String table, long burst, int keys)
            throws SQLException {
        try (Connection connection = pools.get(0).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE " + table + " (id BIGINT PRIMARY KEY, state BYTEA)");
        }
        BucketConfiguration configuration =
                BucketConfiguration.builder().addLimit(bandwidth(burst)).build();
        List<Bucket[]> instances = pools.stream()
                .map(pool -> {
                    ProxyManager<Long> manager = Bucket4jPostgreSQL.selectForUpdateBasedBuilder(pool)
                            .table(table)
                            .build();
                    return buckets(keys, key -> manager.builder().build((long) key, () -> configuration));
                })
                .toList();
        return new Buckets(instances, burst);
    }

    /**
     * @param instances how many there are, each with a connection of its own
     */
    public static Peer redis(RedisClient client, int instances, String prefix, long burst, int keys) {
        return redis(() -> Bucket4jLettuce.casBasedBuilder(client), instances, prefix, burst, keys);
    }

    public static Peer redis(RedisClusterClient client, String prefix, long burst, int keys) {
        return redis(() -> Bucket4jLettuce.casBasedBuilder(client), 1, prefix, burst, keys);
    }

    private static Peer redis(
            Supplier<LettuceBasedProxyManagerBuilder<byte[]>> builder,
            int instances,
            String prefix,
            long burst,
            int keys) {
        BucketConfiguration configuration =
                BucketConfiguration.builder().addLimit(bandwidth(burst)).build();
        List<Bucket[]> all = new ArrayList<>();
        for (int i = 0; i < instances; i++) {
            ProxyManager<byte[]> manager = builder.get()
                    .expirationAfterWrite(
                            ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(Duration.ofMinutes(1)))
                    .build();
            all.add(buckets(
                    keys,
                    key -> manager.builder()
                            .build((prefix + key).getBytes(StandardCharsets.UTF_8), () -> configuration)));
        }
        return new Buckets(all, burst);
    }

    private static Bucket[] buckets(int keys, IntFunction<Bucket> make) {
        Bucket[] buckets = new Bucket[keys];
        for (int key = 0; key < keys; key++) {
            buckets[key] = make.apply(key);
        }
        return buckets;
    }
}
