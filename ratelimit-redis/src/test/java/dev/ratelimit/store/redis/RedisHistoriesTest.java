package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.MemoryStates;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.test.store.LimitStoreHistories;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.KeyValue;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** Random histories, on one server and in a cluster, where an operation may have its subjects on several servers. */
class RedisHistoriesTest {

    abstract static class Histories extends LimitStoreHistories {

        private AbstractRedisClient client;
        private RedisLimitStore store;
        private RedisServers servers;

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
            servers = RedisServers.connect(client);
            store = RedisLimitStore.open(
                    client, RedisOptions.DEFAULT.withClock(time).withDeadline(Duration.ofSeconds(20)));
            return store;
        }

        /** Beside the answers, compares the stored values with the states that the memory holds. */
        @Override
        protected void decided(List<StateKey> keys, MemoryLimitStore memory, String where) {
            RedisKeys names = new RedisKeys(RedisOptions.DEFAULT_KEY_PREFIX);
            List<StateKey> all = keys.stream().distinct().toList();
            List<KeyValue<byte[], byte[]>> values =
                    servers.commands().mget(all.stream().map(names::of).toArray(byte[][]::new));
            for (int i = 0; i < all.size(); i++) {
                Stored stored = values.get(i).hasValue()
                        ? StoredCodec.decode(values.get(i).getValue())
                        : Stored.NONE;
                State state = MemoryStates.state(memory, all.get(i));
                Violations violations = MemoryStates.violations(memory, all.get(i));
                assertThat(stored.state())
                        .as("%s, state of %s", where, all.get(i))
                        .isEqualTo(state == null ? State.FRESH : state);
                assertThat(stored.violations())
                        .as("%s, violations of %s", where, all.get(i))
                        .isEqualTo(violations == null ? Violations.NONE : violations);
            }
        }

        @AfterEach
        void disconnect() {
            servers.close();
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

        /** If only some servers knew the script, operations on the others would be decided after the rest of their group. */
        @Override
        void flush() throws Exception {
            for (RedisProcess master : TestRedis.cluster().masters()) {
                master.call(redis -> redis.flushall());
                master.call(redis -> redis.scriptLoad(SwapScript.text()));
            }
        }
    }
}
