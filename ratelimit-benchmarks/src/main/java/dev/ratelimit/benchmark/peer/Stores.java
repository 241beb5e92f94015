package dev.ratelimit.benchmark.peer;

import dev.ratelimit.Limits;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.store.redis.Acknowledge;
import dev.ratelimit.store.redis.RedisLimitStore;
import dev.ratelimit.store.redis.RedisOptions;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import io.lettuce.core.AbstractRedisClient;
import java.nio.file.Path;
import java.time.Duration;
import javax.sql.DataSource;

/** Opens the stores of this project, and limiters over them. */
public final class Stores {

    /** How many groups a limiter has in flight on PostgreSQL, as it has by default. */
    public static final int GROUPS_ON_POSTGRES = 2;

    /** Long enough that a slow moment of the machine fails no run. */
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private Stores() {}

    /** A store on a schema that has its tables. */
    public static LimitStore postgres(DataSource pool, String schema) {
        return new PostgresLimitStore(pool, schema).withDeadline(DEADLINE);
    }

    /** A store on a schema that is made for it. */
    public static LimitStore newPostgres(DataSource pool, String schema) {
        Schema.migrate(pool, schema);
        return postgres(pool, schema);
    }

    /** A store that decides by swaps, on a schema that is made for it. */
    public static LimitStore newPostgresSwaps(DataSource pool, String schema) {
        Schema.migrate(pool, schema);
        return new PostgresSwapStore(pool, schema).withDeadline(DEADLINE);
    }

    public static SqliteFile newSqliteFile(Path path, boolean full) {
        SqliteFile file =
                SqliteFile.at(path).synchronous(full ? SqliteFile.Synchronous.FULL : SqliteFile.Synchronous.NORMAL);
        Schema.migrate(file);
        return file;
    }

    public static LimitStore sqlite(SqliteFile file) {
        return new SqliteLimitStore(file);
    }

    /** A store whose keys begin with the prefix. */
    public static LimitStore redis(AbstractRedisClient client, String prefix, Acknowledge acknowledge) {
        return RedisLimitStore.open(
                client,
                RedisOptions.DEFAULT
                        .withKeyPrefix(prefix)
                        .withDeadline(DEADLINE)
                        .withAcknowledge(acknowledge));
    }

    public static LimitStore memory() {
        return new MemoryLimitStore();
    }

    /** A limiter for requests that bring their limits with them. */
    public static StoreRateLimiter limiter(LimitStore store, int groups) {
        return StoreRateLimiter.builder(store, Limits.of())
                .grouping(Grouping.DEFAULT.withGroupsInFlight(groups).withDeadline(DEADLINE))
                .build();
    }
}
