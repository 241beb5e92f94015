package dev.ratelimit.store;

import dev.ratelimit.store.shard.Shard;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.test.store.LimitStoreContract;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/** Shards in memory, so that every mistake is that of the shards. */
class ShardedMemoryTest extends LimitStoreContract {

    static final Duration LONG = Duration.ofSeconds(30);

    /** Alice, Bob and the address 203.0.113.7 are on three different ones. */
    static final List<String> NAMES = List.of("one", "two", "three");

    @Override
    protected LimitStore open(InstantSource clock) {
        return new ShardedLimitStore(
                NAMES.stream()
                        .map(name -> new Shard(name, new MemoryLimitStore(clock)))
                        .toList(),
                LONG);
    }

    @Override
    protected boolean isStored(String subject) {
        return ((ShardedLimitStore) store)
                .shards().stream()
                        .map(shard -> (MemoryLimitStore) shard.store())
                        .anyMatch(memory -> memory.state(new StateKey(subject, "scheduled")) != null);
    }
}
