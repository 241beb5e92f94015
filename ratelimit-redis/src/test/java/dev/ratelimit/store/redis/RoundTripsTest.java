package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.store.Operation.Demand;
import io.lettuce.core.RedisClient;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How often a decision calls the server. */
class RoundTripsTest {

    private static final Limit LIMIT = Limit.named("api")
            .algorithm(new TokenBucket(1_000_000, Rate.perSecond(1)))
            .build();

    private final RedisClient client = TestRedis.client(TestRedis.single());
    private final RedisLimitStore store = open();
    private final RedisLimitStore other = open();

    private RedisLimitStore open() {
        return RedisLimitStore.open(client, RedisOptions.DEFAULT.withKeyPrefix("trips:"));
    }

    @BeforeEach
    void clear() {
        TestRedis.single().call(redis -> redis.flushall());
        decide(store, "somebody"); // now the server has the script, and the store its time
        decide(other, "somebody");
    }

    @AfterEach
    void close() {
        store.close();
        other.close();
        TestRedis.shutdown(client);
    }

    @Test
    void subjectThatNobodyElseAsksForTakesOneCallEach() {
        long before = calls();
        for (int i = 0; i < 100; i++) {
            decide(store, "user" + i % 10);
        }

        assertThat(calls() - before).isEqualTo(100);
    }

    @Test
    void valueOfAnotherInstanceTakesOneMoreCall() {
        decide(other, "alice");
        long before = calls();
        decide(store, "alice");

        assertThat(calls() - before).isEqualTo(2);
    }

    private static void decide(RedisLimitStore store, String user) {
        assertThat(store.decide(new Demand(Subject.user(user), LIMIT, 1)).allowed())
                .isTrue();
    }

    private static long calls() {
        Matcher calls = Pattern.compile("cmdstat_evalsha:calls=(\\d+)")
                .matcher(TestRedis.single().call(redis -> redis.info("commandstats")));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }
}
