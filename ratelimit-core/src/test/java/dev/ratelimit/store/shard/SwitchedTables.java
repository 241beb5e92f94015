package dev.ratelimit.store.shard;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.StateKey;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Tables of a database that can fail. */
final class SwitchedTables implements ShardTables {

    private final ShardTables tables;
    private final AtomicInteger refused = new AtomicInteger();
    private volatile boolean refusesArrivals;
    private volatile boolean refusesToBeRead;

    SwitchedTables(ShardTables tables) {
        this.tables = tables;
    }

    void refusesArrivals(boolean does) {
        refusesArrivals = does;
    }

    void refusesToBeRead(boolean does) {
        refusesToBeRead = does;
    }

    /** How often state could not arrive. */
    int refused() {
        return refused.get();
    }

    @Override
    public List<Recorded> read() {
        if (refusesToBeRead) {
            throw new LimitStoreException("the lists cannot be read", null);
        }
        return tables.read();
    }

    @Override
    public Recorded record(Recorded list) {
        return tables.record(list);
    }

    @Override
    public boolean hasState() {
        return tables.hasState();
    }

    @Override
    public List<Leaving> leave(List<StateKey> keys, int version, boolean forgotten) {
        return tables.leave(keys, version, forgotten);
    }

    @Override
    public void arrive(List<Leaving> rows) {
        if (refusesArrivals) {
            refused.incrementAndGet();
            throw new LimitStoreException("state cannot arrive", null);
        }
        tables.arrive(rows);
    }

    @Override
    public List<StateKey> keysAfter(@Nullable StateKey key, int most) {
        return tables.keysAfter(key, most);
    }

    @Override
    public void allMoved(int version) {
        tables.allMoved(version);
    }
}
