package dev.ratelimit.store.postgresql;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The tables without functions, triggers and partitions, for databases that lack these. The history of migrations says which
 * ones a schema has. It is asked once.
 */
public final class PlainTables {

    private final String question;
    private volatile @Nullable Boolean known;

    public PlainTables(String schema) {
        this.question = "SELECT count(*) > 0 FROM \"" + PostgresLimitStore.requireSchema(schema)
                + "\".ratelimit_schema_history WHERE script LIKE 'plain/%'";
    }

    /**
     * Whether the schema has plain tables.
     *
     * @param database runs a query for one boolean
     */
    public boolean isUsed(Function<String, @Nullable Boolean> database) {
        Boolean used = known;
        if (used == null) {
            used = Boolean.TRUE.equals(database.apply(question));
            known = used;
        }
        return used;
    }
}
