package dev.ratelimit.store.redis;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.test.store.LimitStoreContract;
import io.lettuce.core.AbstractRedisClient;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.condition.EnabledIf;

/** Holds the store to the contract of all stores, on one server, on that of the machine, and in a cluster. */
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

    abstract static class OnAServer extends Contract {

        abstract RedisProcess server();

        @Override
        AbstractRedisClient connect() {
            return TestRedis.client(server());
        }

        @Override
        void clear() {
            server().call(redis -> redis.flushall());
        }

        @Override
        long keysOf(String pattern) {
            return server().call(redis -> redis.keys(pattern)).size();
        }

        @Override
        protected String databaseInUse() {
            return server().call(redis -> redis.info("server"));
        }

        @Override
        protected String expectedDatabase() {
            return "(?s).*redis_version:.*redis_mode:standalone.*";
        }
    }

    @Nested
    class OnOneServer extends OnAServer {

        @Override
        RedisProcess server() {
            return TestRedis.single();
        }
    }

    @Nested
    @EnabledIf(value = "dev.ratelimit.redis.RedisProgram#isInstalled", disabledReason = "redis-server is not installed")
    class OnTheInstalledServer extends OnAServer {

        @Override
        RedisProcess server() {
            return TestRedis.installed();
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
