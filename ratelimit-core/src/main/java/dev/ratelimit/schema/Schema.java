package dev.ratelimit.schema;

import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationInfoService;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/**
 * Brings a database to the schema that this version of the library knows. On a current schema nothing is changed, an
 * older one is migrated, a newer one is refused. Several instances may start at once.
 */
public final class Schema {

    /** Where the applied migrations are recorded, apart from those of the application. */
    public static final String HISTORY_TABLE = "ratelimit_schema_history";

    private static final String MIGRATIONS = "classpath:dev/ratelimit/schema/";

    private static final int MOST_TRIES = 3;
    private static final String INSUFFICIENT_PRIVILEGE = "42501";

    private Schema() {}

    /** Creates the file if need be, and brings it to the current schema. */
    public static void migrate(SqliteFile file) {
        // Flyway takes no lock on SQLite that another instance would wait for.
        file.exclusively(() -> {
            file.prepare();
            migrate(
                    "the SQLite file " + file.path(),
                    Flyway.configure().dataSource(file.dataSource()).locations(MIGRATIONS + "sqlite"));
        });
    }

    /**
     * Brings a PostgreSQL database to the current schema.
     *
     * @param schemaName the schema of the tables, which is created if it does not exist
     */
    public static void migrate(DataSource postgres, String schemaName) {
        String name = PostgresLimitStore.requireSchema(schemaName);
        DatabaseProduct.requirePostgres(postgres, "rate limits");
        PostgresLimitStore.requireUnicode(postgres);
        migrate(
                "the PostgreSQL schema " + name,
                Flyway.configure()
                        .dataSource(postgres)
                        .schemas(name)
                        .defaultSchema(name)
                        .locations(MIGRATIONS + "postgresql"));
    }

    private static void migrate(String where, FluentConfiguration configuration) {
        Flyway flyway = configuration
                .table(HISTORY_TABLE)
                // The application has tables of its own beside ours.
                .baselineOnMigrate(true)
                .baselineVersion("0")
                .load();
        for (int tries = 1; ; tries++) {
            try {
                MigrationInfoService migrations = flyway.info();
                refuseNewer(where, migrations);
                if (migrations.pending().length > 0) {
                    flyway.migrate();
                }
                return;
            } catch (FlywayException e) {
                // Beside another instance, Flyway may take the other's new history table for one of the application.
                if (tries == MOST_TRIES || isForbidden(e)) {
                    throw new SchemaException(where + " could not be migrated: " + e.getMessage(), e);
                }
            }
        }
    }

    /**
     * Whether privileges are missing, which only Flyway's message says. Another try would take seconds and change
     * nothing.
     */
    private static boolean isForbidden(FlywayException e) {
        return String.valueOf(e.getMessage()).contains(INSUFFICIENT_PRIVILEGE);
    }

    private static void refuseNewer(String where, MigrationInfoService migrations) {
        MigrationVersion known = MigrationVersion.EMPTY;
        MigrationVersion applied = MigrationVersion.EMPTY;
        for (MigrationInfo migration : migrations.all()) {
            if (migration.getState() == MigrationState.FUTURE_SUCCESS
                    || migration.getState() == MigrationState.FUTURE_FAILED) {
                applied = migration.getVersion();
            } else if (migration.isVersioned()) {
                known = migration.getVersion();
            }
        }
        if (!applied.equals(MigrationVersion.EMPTY)) {
            throw new SchemaException(
                    where + " is at version " + applied + ", but this library supports versions up to " + known
                            + "; upgrade the library",
                    null);
        }
    }
}
