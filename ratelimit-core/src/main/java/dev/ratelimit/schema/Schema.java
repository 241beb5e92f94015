package dev.ratelimit.schema;

import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.jdbc.PostgresEngine;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import javax.sql.DataSource;

/**
 * Brings a database to the schema that this version of the library knows. On a current schema nothing is changed, an
 * older one is migrated, a newer one is refused. A migration is one transaction: if it fails, nothing stays behind. Several
 * instances may start at once.
 */
public final class Schema {

    /** Where the applied migrations are recorded, apart from those of the application. */
    public static final String HISTORY_TABLE = "ratelimit_schema_history";

    private Schema() {}

    /** Creates the file if need be, and brings it to the current schema. */
    public static void migrate(SqliteFile file) {
        new SqliteSchema(file, Scripts.SQLITE).migrate();
    }

    /**
     * Creates and changes nothing.
     *
     * @throws SchemaException if the file is not there, or not at the current schema
     */
    public static void require(SqliteFile file) {
        new SqliteSchema(file, Scripts.SQLITE).require();
    }

    /** Creates the file of the audit trail if need be, and brings it to the current schema. */
    public static void migrateAudit(SqliteFile file) {
        new SqliteSchema(file, Scripts.SQLITE_AUDIT).migrate();
    }

    /**
     * Creates and changes nothing.
     *
     * @throws SchemaException if the file of the audit trail is not there, or not at the current schema
     */
    public static void requireAudit(SqliteFile file) {
        new SqliteSchema(file, Scripts.SQLITE_AUDIT).require();
    }

    /**
     * Brings a PostgreSQL database to the current schema. CockroachDB and YugabyteDB get {@linkplain #migratePlain plain
     * tables}.
     *
     * @param schemaName the schema of the tables, which is created if it does not exist
     */
    public static void migrate(DataSource postgres, String schemaName) {
        postgres(postgres, schemaName).migrate();
    }

    /**
     * Does the same with tables that need no functions, no triggers and no partitions, for databases that lack them. The
     * statements run one by one, and each can run again: if one fails, the next start goes on. A schema that has
     * tables already is left as it is.
     */
    public static void migratePlain(DataSource postgres, String schemaName) {
        postgres(postgres, schemaName, Scripts.POSTGRESQL_PLAIN).migrate();
    }

    /**
     * Creates and changes nothing.
     *
     * @throws SchemaException if the schema is not current, or if the user of the connections lacks a right on its tables
     */
    public static void require(DataSource postgres, String schemaName) {
        postgres(postgres, schemaName).require();
    }

    private static PostgresSchema postgres(DataSource postgres, String schemaName) {
        String unused = PostgresLimitStore.requireSchema(schemaName);
        DatabaseProduct.requirePostgres(postgres, "rate limits");
        return postgres(
                postgres,
                schemaName,
                PostgresEngine.of(postgres).isComplete() ? Scripts.POSTGRESQL : Scripts.POSTGRESQL_PLAIN);
    }

    private static PostgresSchema postgres(DataSource postgres, String schemaName, Scripts scripts) {
        String name = PostgresLimitStore.requireSchema(schemaName);
        PostgresLimitStore.requireUnicode(postgres);
        return new PostgresSchema(postgres, name, scripts);
    }
}
