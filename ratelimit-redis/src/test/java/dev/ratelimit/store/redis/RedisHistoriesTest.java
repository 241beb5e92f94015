package dev.ratelimit.store.redis;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.test.store.LimitStoreHistories;
import io.lettuce.core.AbstractRedisClient;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** Random histories, on one server and in a cluster, where an operation may have its subjects on several servers. */
class RedisHistoriesTest {

    abstract static class Histories extends LimitStoreHistories {

        private AbstractRedisClient client;
        private RedisLimitStore store;

        abstract AbstractRedisClient connect() throws Exception;

        abstract void flush() throws Exception;

        @Override
        protected void clear() throws Exception {
            flush();
            store.forgetValues();
        }

        @Override
        protected LimitStore open(InstantSource time) throws Exception {
            flush();
            client = connect();
            store = RedisLimitStore.open(
                    client, RedisOptions.DEFAULT.withClock(time).withDeadline(Duration.ofSeconds(20)));
            return store;
        }

        @AfterEach
        void disconnect() {
            TestRedis.shutdown(client);
        }
    }

    @Nested
    class OnOneServer extends Histories {

        @Override
        AbstractRedisClient connect() {
            return TestRedis.client(TestRedis.single());
        }

        @Override
        void flush() {
            TestRedis.single().call(redis -> redis.flushall());
        }
    }

    @Nested
    class InACluster extends Histories {

        @Override
        AbstractRedisClient connect() throws Exception {
            return TestRedis.client(TestRedis.cluster());
        }

        @Override
        void flush() throws Exception {
            for (RedisProcess master : TestRedis.cluster().masters()) {
                master.call(redis -> redis.flushall());
            }
        }
    }
}
