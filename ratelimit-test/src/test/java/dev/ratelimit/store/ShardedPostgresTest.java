package dev.ratelimit.store;

import dev.ratelimit.store.shard.Shard;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.test.store.LimitStoreContract;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** Shards in three schemas of a PostgreSQL server. */
class ShardedPostgresTest extends LimitStoreContract {

    private static final List<String> SCHEMAS = ShardedMemoryTest.NAMES.stream()
            .map(name -> TestPostgres.instance().freshSchema())
            .toList();

    @Override
    protected LimitStore open(InstantSource clock) throws SQLException {
        LimitStore store = open(SCHEMAS, clock);
        clear(SCHEMAS);
        return store;
    }

    static ShardedLimitStore open(List<String> schemas, InstantSource clock) {
        List<Shard> shards = new ArrayList<>();
        for (int i = 0; i < schemas.size(); i++) {
            shards.add(new Shard(ShardedMemoryTest.NAMES.get(i), TestStores.postgres(schemas.get(i), clock)));
        }
        return new ShardedLimitStore(shards, ShardedMemoryTest.LONG);
    }

    static void clear(List<String> schemas) throws SQLException {
        try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String schema : schemas) {
                statement.execute("TRUNCATE %1$s.rate_limits, %1$s.rate_limit_penalties".formatted(schema));
            }
        }
    }

    @Override
    protected boolean isStored(String subject) throws SQLException {
        boolean stored = false;
        for (String schema : SCHEMAS) {
            try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                    PreparedStatement select =
                            connection.prepareStatement("SELECT 1 FROM " + schema + ".rate_limits WHERE user_id = ?")) {
                select.setString(1, subject);
                try (ResultSet row = select.executeQuery()) {
                    stored |= row.next();
                }
            }
        }
        return stored;
    }
}
