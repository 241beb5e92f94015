package dev.ratelimit.store.postgresql;

/**
 * The tables without functions, triggers and partitions, for databases that lack these. The history of migrations says which
 * ones a schema has.
 */
public final class PlainTables {

    private PlainTables() {}

    /** A query for one boolean: whether the schema has plain tables. */
    public static String question(String schema) {
        return "SELECT count(*) > 0 FROM \"" + PostgresLimitStore.requireSchema(schema)
                + "\".ratelimit_schema_history WHERE script LIKE 'plain/%'";
    }
}
