package dev.ratelimit.store;

import dev.ratelimit.test.store.LimitStoreHistories;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;

/** Random groups over shards in three schemas of a PostgreSQL server. */
class ShardedPostgresHistoriesTest extends LimitStoreHistories {

    private final List<String> schemas = ShardedMemoryTest.NAMES.stream()
            .map(name -> TestPostgres.instance().freshSchema())
            .toList();

    @Override
    protected LimitStore open(InstantSource time) {
        return ShardedPostgresTest.open(schemas, time);
    }

    @Override
    protected void clear() throws SQLException {
        ShardedPostgresTest.clear(schemas);
    }

    /** Shards in memory, in the test beside, are asked as often as any other store. Here each group takes several transactions. */
    @Override
    protected int demandsPerAlgorithm() {
        return 5_000;
    }
}
