package dev.ratelimit.concurrency;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;

/** The stores that a test runs on, one after another. */
enum StoreKind {
    MEMORY {
        @Override
        LimitStore open(Path folder, InstantSource clock) {
            return new MemoryLimitStore(clock);
        }

        @Override
        LimitStore open(Path folder) {
            return new MemoryLimitStore();
        }
    },
    SQLITE {
        @Override
        LimitStore open(Path folder, InstantSource clock) {
            SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db")).busyTimeout(Duration.ofSeconds(30));
            Schema.migrate(file);
            return new SqliteLimitStore(file, clock);
        }

        @Override
        LimitStore open(Path folder) {
            return open(folder, InstantSource.system());
        }
    },
    POSTGRESQL {
        @Override
        LimitStore open(Path folder, InstantSource clock) {
            TestPostgres postgres = TestPostgres.instance();
            String schema = postgres.freshSchema();
            Schema.migrate(postgres.dataSource(), schema);
            return new PostgresLimitStore(postgres.dataSource(), schema, clock);
        }

        @Override
        LimitStore open(Path folder) {
            return open(folder, null);
        }
    },
    POSTGRESQL_SWAP {
        @Override
        LimitStore open(Path folder, InstantSource clock) {
            TestPostgres postgres = TestPostgres.instance();
            String schema = postgres.freshSchema();
            Schema.migrate(postgres.dataSource(), schema);
            return new PostgresSwapStore(postgres.dataSource(), schema, clock).withDeadline(Duration.ofSeconds(30));
        }

        @Override
        LimitStore open(Path folder) {
            return open(folder, null);
        }
    };

    /** A new store on that clock; {@code folder} is empty and its own. */
    abstract LimitStore open(Path folder, InstantSource clock);

    /** A new store on its own clock: the machine's, or that of the database. */
    abstract LimitStore open(Path folder);
}
