package example.cleanup;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.upkeep.Upkeep;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Deletes state that expired some time ago. The starter does this every ten minutes; run it by hand, or from cron, if you use the
 * core without Spring.
 */
public final class Cleanup {

    private Cleanup() {}

    public static void main(String[] args) {
        System.out.println(run(System.getenv()));
    }

    static Upkeep.Report run(Map<String, String> env) {
        Duration keep = Duration.parse(env.getOrDefault("STALE_TTL", "PT24H"));
        try (LimitStore store = store(env);
                Upkeep upkeep = new Upkeep(store, keep)) {
            return upkeep.run();
        }
    }

    private static LimitStore store(Map<String, String> env) {
        String file = env.get("SQLITE_FILE");
        if (file != null) {
            SqliteFile sqlite = SqliteFile.at(Path.of(file));
            Schema.migrate(sqlite);
            return new SqliteLimitStore(sqlite);
        }
        PGSimpleDataSource postgres = new PGSimpleDataSource();
        postgres.setUrl(env.getOrDefault(
                "DATABASE_URL", "jdbc:postgresql://localhost:5432/ratelimit?user=ratelimit&password=ratelimit"));
        String schema = env.getOrDefault("DB_SCHEMA", "ratelimit");
        Schema.migrate(postgres, schema);
        return new PostgresLimitStore(postgres, schema);
    }
}
