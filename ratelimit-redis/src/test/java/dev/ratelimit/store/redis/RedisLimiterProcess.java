package dev.ratelimit.store.redis;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The main class of a process with a rate limiter of its own. It uses up each of {@link #LIMITS} when it reads a line, first on one
 * server, then in a cluster, and says how many requests it admitted.
 *
 * <p>Arguments: the port of the server, then the ports of the cluster.
 */
public final class RedisLimiterProcess {

    static final int GRANTED = 300;

    static final Subject SUBJECT = Subject.user("everybody");

    static final List<Limit> LIMITS = List.of(
            Instance.atMost("fixed", GRANTED),
            Limit.named("log").algorithm(new SlidingLog(GRANTED, Instance.AGES)).build(),
            Limit.named("bucket")
                    .algorithm(new TokenBucket(GRANTED, Rate.of(1, Instance.AGES)))
                    .build());

    private static final int THREADS = 4;

    private RedisLimiterProcess() {}

    public static void main(String[] ports) throws Exception {
        List<RedisURI> uris = Arrays.stream(ports)
                .map(port -> RedisURI.create("127.0.0.1", Integer.parseInt(port)))
                .toList();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<AbstractRedisClient> clients =
                List.of(RedisClient.create(uris.get(0)), RedisClusterClient.create(uris.subList(1, uris.size())));
        for (AbstractRedisClient client : clients) {
            RedisLimitStore store = RedisLimitStore.open(client, Instance.PATIENT);
            StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(List.of()))
                    .grouping(Grouping.DEFAULT.withDeadline(Instance.PATIENT.deadline()))
                    .build();
            for (Limit limit : LIMITS) {
                limiter.peek(LimitRequest.of(SUBJECT, limit)); // connected before the start
                RedisChild.say("ready");
                if (input.readLine() == null) {
                    return;
                }
                RedisChild.say(Integer.toString(useUp(limiter, limit)));
            }
        }
        System.exit(0);
    }

    private static int useUp(StoreRateLimiter limiter, Limit limit) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        AtomicInteger admitted = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            all.add(threads.submit(() -> {
                for (int denied = 0; denied < 5; ) {
                    Decision decision =
                            limiter.decide(LimitRequest.of(SUBJECT, limit).onFailure(FailurePolicy.CLOSED));
                    if (!decision.outcome().isDecided()) {
                        throw new IllegalStateException("not decided: " + decision);
                    }
                    if (decision.allowed()) {
                        admitted.incrementAndGet();
                        LockSupport.parkNanos(300_000); // leaves the other processes their share
                    } else {
                        denied++;
                    }
                }
            }));
        }
        for (Future<?> one : all) {
            one.get();
        }
        threads.shutdown();
        return admitted.get();
    }
}
