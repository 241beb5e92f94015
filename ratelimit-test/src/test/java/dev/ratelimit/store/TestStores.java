package dev.ratelimit.store;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** Stores on real databases with the current schema. */
public final class TestStores {

    private static final Set<String> MIGRATED = ConcurrentHashMap.newKeySet();

    private TestStores() {}

    /** A store on the SQLite file {@code ratelimit.db} in the folder. */
    public static SqliteLimitStore sqlite(Path folder, InstantSource clock) {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        Schema.migrate(file);
        return new SqliteLimitStore(file, clock);
    }

    /** A store in a PostgreSQL schema of that name; with {@code null} as the clock, on the clock of the database. */
    public static PostgresLimitStore postgres(String schema, InstantSource clock) {
        return new PostgresLimitStore(migrated(schema), schema, clock);
    }

    /** The same, which decides by swaps. */
    public static PostgresSwapStore postgresSwap(String schema, InstantSource clock) {
        return new PostgresSwapStore(migrated(schema), schema, clock);
    }

    private static DataSource migrated(String schema) {
        DataSource dataSource = TestPostgres.instance().dataSource();
        if (MIGRATED.add(schema)) {
            Schema.migrate(dataSource, schema);
        }
        return dataSource;
    }
}
