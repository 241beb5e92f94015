package dev.ratelimit.store.redis;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.test.store.LimitStoreContract;
import io.lettuce.core.AbstractRedisClient;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** Holds the store to the contract of all stores, on one server and in a cluster. */
class RedisContractTest {

    abstract static class Contract extends LimitStoreContract {

        private AbstractRedisClient client;

        abstract AbstractRedisClient connect() throws Exception;

        abstract void clear() throws Exception;

        abstract long keysOf(String pattern) throws Exception;

        @Override
        protected LimitStore open(InstantSource clock) throws Exception {
            clear();
            client = connect();
            return RedisLimitStore.open(
                    client, RedisOptions.DEFAULT.withClock(clock).withDeadline(Duration.ofSeconds(20)));
        }

        @AfterEach
        void disconnect() {
            TestRedis.shutdown(client);
        }

        @Override
        protected boolean isStored(String subject) throws Exception {
            return keysOf("rl:{" + subject + "}:*") > 0;
        }
    }

    @Nested
    class OnOneServer extends Contract {

        @Override
        AbstractRedisClient connect() {
            return TestRedis.client(TestRedis.single());
        }

        @Override
        void clear() {
            TestRedis.single().call(redis -> redis.flushall());
        }

        @Override
        long keysOf(String pattern) {
            return TestRedis.single().call(redis -> redis.keys(pattern)).size();
        }

        @Override
        protected String databaseInUse() {
            return TestRedis.single().call(redis -> redis.info("server"));
        }

        @Override
        protected String expectedDatabase() {
            return "(?s).*redis_version:.*redis_mode:standalone.*";
        }
    }

    @Nested
    class InACluster extends Contract {

        @Override
        AbstractRedisClient connect() throws Exception {
            return TestRedis.client(TestRedis.cluster());
        }

        @Override
        void clear() throws Exception {
            for (RedisProcess master : TestRedis.cluster().masters()) {
                master.call(redis -> redis.flushall());
            }
        }

        @Override
        long keysOf(String pattern) throws Exception {
            long keys = 0;
            for (RedisProcess master : TestRedis.cluster().masters()) {
                keys += master.call(redis -> redis.keys(pattern)).size();
            }
            return keys;
        }

        @Override
        protected String databaseInUse() throws Exception {
            return TestRedis.cluster().masters().get(0).call(redis -> redis.info("server"));
        }

        @Override
        protected String expectedDatabase() {
            return "(?s).*redis_version:.*redis_mode:cluster.*";
        }
    }
}
