package dev.ratelimit.database;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where state is kept. */
public sealed interface StateDatabase
        permits StateDatabase.Memory, StateDatabase.Sqlite, PostgresDatabase, ShardedDatabase, CountsDatabase {

    /**
     * Opens the store of counts, with its schema up to date.
     *
     * @param deadline the longest time that a request waits for a decision
     * @param clock the clock, or {@code null} for that of the store
     */
    LimitStore open(Duration deadline, @Nullable InstantSource clock);

    /** How many groups to decide at once, while it cannot be asked. */
    int groupsAtOnce();

    /** The database beside which limits, rules and audit are kept: one of several, or this one. */
    default StateDatabase main() {
        return this;
    }

    /** Each of several databases, or this one. */
    default List<? extends StateDatabase> all() {
        return List.of(this);
    }

    /** Nowhere: it ends with the process. */
    record Memory() implements StateDatabase {

        @Override
        public LimitStore open(Duration deadline, @Nullable InstantSource clock) {
            return clock == null ? new MemoryLimitStore() : new MemoryLimitStore(clock);
        }

        @Override
        public int groupsAtOnce() {
            return 1;
        }

        /** For operators. */
        @Override
        public String toString() {
            return "memory";
        }
    }

    /**
     * In a file.
     *
     * @param migrates whether to create and migrate it; it is checked otherwise
     */
    record Sqlite(SqliteFile file, boolean migrates) implements StateDatabase {

        @Override
        public LimitStore open(Duration deadline, @Nullable InstantSource clock) {
            migrate();
            SqliteFile waiting = file.busyTimeout(deadline);
            return clock == null ? new SqliteLimitStore(waiting) : new SqliteLimitStore(waiting, clock);
        }

        @Override
        public int groupsAtOnce() {
            return 1;
        }

        /** Brings its schema up to date, or requires that it is. */
        void migrate() {
            if (migrates) {
                Schema.migrate(file);
            } else {
                Schema.require(file);
            }
        }

        /** The file, which may be unavailable for now, and is then migrated or checked before it is used. */
        SqliteFile openedLater() {
            return file.openedLaterBy(migrates ? Schema::migrate : Schema::require);
        }

        /** For log lines. */
        @Override
        public String toString() {
            return "the SQLite file " + file.path();
        }
    }
}
