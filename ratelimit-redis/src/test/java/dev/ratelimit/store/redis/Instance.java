package dev.ratelimit.store.redis;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/** An application as Redis sees it: a client, a store and a rate limiter of its own. */
final class Instance implements AutoCloseable {

    /** No window ends while a test runs. */
    static final Duration AGES = Duration.ofDays(3650);

    /** Patient: for tests in which nothing fails. */
    static final RedisOptions PATIENT = RedisOptions.DEFAULT.withDeadline(Duration.ofSeconds(20));

    final AbstractRedisClient client;
    final RedisLimitStore store;
    final StoreRateLimiter limiter;

    private Instance(AbstractRedisClient client, RedisLimitStore store, RedisOptions options) {
        this.client = client;
        this.store = store;
        this.limiter = StoreRateLimiter.builder(store, Limits.of(List.of()))
                .grouping(Grouping.DEFAULT
                        .withGroupsInFlight(store.groupsAtOnce())
                        .withDeadline(options.deadline()))
                .rememberedDenials(0)
                .build();
    }

    static Instance on(RedisURI address, RedisOptions options) {
        return of(TestRedis.client(address), options);
    }

    static Instance on(RedisProcess server, RedisOptions options) {
        return of(TestRedis.client(server), options);
    }

    /** One whose commands can be held up. */
    static Instance on(RedisProcess server, RedisOptions options, UnaryOperator<RedisServers> around) {
        AbstractRedisClient client = TestRedis.client(server);
        RedisServers servers = around.apply(RedisServers.connect(client));
        return new Instance(client, new RedisLimitStore(servers, options), options);
    }

    private static Instance of(AbstractRedisClient client, RedisOptions options) {
        return new Instance(client, RedisLimitStore.open(client, options), options);
    }

    static Instance on(RedisProcessCluster servers, RedisOptions options) {
        return of(TestRedis.client(servers), options);
    }

    static Instance inClusterAt(RedisURI address, RedisOptions options) {
        return of(TestRedis.clusterClient(List.of(address)), options);
    }

    /** At most that many, ever. */
    static Limit atMost(String name, long requests) {
        return Limit.named(name).algorithm(new FixedWindow(requests, AGES)).build();
    }

    Decision decide(Subject subject, Limit limit) {
        return decide(LimitRequest.of(subject, limit));
    }

    Decision decide(LimitRequest request) {
        return limiter.decide(request.onFailure(FailurePolicy.CLOSED));
    }

    /** Asks the store, without the engine. */
    boolean isAllowed(Subject subject, Limit limit) {
        return store.decide(new Demand(subject, limit, 1)).allowed();
    }

    /** How much is charged, as the servers say. */
    long used(Subject subject, Limit limit) {
        Operation peek = new Operation(Kind.PEEK, List.of(new Demand(subject, limit, 1)));
        return limit.capacity() - store.decide(peek).first().remaining();
    }

    @Override
    public void close() {
        limiter.close();
        store.close();
        TestRedis.shutdown(client);
    }
}
