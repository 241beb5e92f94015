package dev.ratelimit.database;

import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile.Synchronous;
import dev.ratelimit.support.Keyword;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The configuration under {@code ratelimit.store}: where state is kept.
 *
 * @param type the kind of store
 * @param required whether the application fails to start while the store is unavailable
 * @param migrate whether to create and migrate the tables
 * @param deadline the longest time that a request waits for a decision
 * @param sqlite the SQLite file
 * @param postgresql the PostgreSQL database
 * @param redis the keys in Redis, with the module ratelimit-redis
 * @param previous the store to move from, in which requests count, too
 */
public record StoreProperties(
        @DefaultValue("auto") Type type,
        @DefaultValue("true") boolean required,
        @DefaultValue("true") boolean migrate,
        @DefaultValue("100ms") Duration deadline,
        @DefaultValue Sqlite sqlite,
        @DefaultValue Postgresql postgresql,
        @DefaultValue Redis redis,
        @DefaultValue Previous previous) {

    /** The kinds of stores. */
    public enum Type {
        AUTO,
        SQLITE,
        POSTGRESQL,
        REDIS,
        MEMORY
    }

    /**
     * The SQLite file.
     *
     * @param path the path of the SQLite file
     * @param synchronous whether to write every decision to disk before it is answered
     */
    public record Sqlite(
            @DefaultValue("ratelimit.db") String path,
            @DefaultValue("normal") Synchronous synchronous) {}

    /**
     * The PostgreSQL database. Each component is one property, so it is long.
     *
     * @param url the JDBC URL of the database; without one, the DataSource of the application is used
     * @param username the user, if the URL names none
     * @param password the password, if the URL names none
     * @param schema the schema of the tables; it is created if it does not exist
     * @param poolSize how many connections to keep, apart from those of the application
     * @param pooler whether a proxy between the application and the database pools connections by transaction
     * @param shards the JDBC URLs of several databases that share the subjects: a list, or a map with a name for each
     * @param synchronousCommit off answers before a decision is on disk; a crash of the database may lose the last ones
     * @param mode how decisions keep out of each other's way: by row locks, or by swaps for compatible databases
     */
    public record Postgresql(
            @Nullable String url,
            @Nullable String username,
            @Nullable String password,
            @DefaultValue("ratelimit") String schema,
            @DefaultValue("4") int poolSize,
            @DefaultValue("auto") Pooler pooler,
            @DefaultValue Map<String, String> shards,
            @DefaultValue("on") SynchronousCommit synchronousCommit,
            @DefaultValue("lock") Mode mode) {

        public Postgresql {
            try {
                PostgresLimitStore.requireSchema(schema);
            } catch (IllegalArgumentException e) {
                throw new InvalidPropertyException(
                        "ratelimit.store.postgresql.schema", schema, PostgresLimitStore.SCHEMA_ADVICE);
            }
            if (poolSize < 1) {
                throw new InvalidPropertyException(
                        "ratelimit.store.postgresql.pool-size", poolSize, "write a whole number of at least 1");
            }
        }

        /** Keeps the password out of logs. */
        @Override
        public String toString() {
            return "Postgresql[schema=" + schema + "]";
        }
    }

    /** Whether a proxy pools connections to PostgreSQL by transaction. */
    public enum Pooler {
        AUTO,
        NONE,
        TRANSACTION;

        /** As it is written in configuration. */
        String keyword() {
            return Keyword.of(this);
        }
    }

    /** How decisions on PostgreSQL keep out of each other's way. */
    public enum Mode {
        LOCK,
        SWAP
    }

    /** Whether a decision is on disk before it is answered. */
    public enum SynchronousCommit {
        ON,
        OFF
    }

    /**
     * The keys in Redis. The connection is that of {@code spring.data.redis}.
     *
     * @param keyPrefix the beginning of every key
     * @param acknowledge which servers must have a decision before it is answered
     */
    public record Redis(
            @DefaultValue("rl:") String keyPrefix,
            @DefaultValue("master") Acknowledge acknowledge) {}

    /**
     * The store to move from. Its address is that of its type.
     *
     * @param type the kind of store; without one, there is none
     */
    public record Previous(@Nullable Type type) {}

    /** Which servers must have a decision before it is answered. */
    public enum Acknowledge {
        MASTER,
        REPLICA
    }
}
