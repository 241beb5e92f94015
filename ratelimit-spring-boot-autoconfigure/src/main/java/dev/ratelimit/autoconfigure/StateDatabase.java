package dev.ratelimit.autoconfigure;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;

/** Where state is kept. */
sealed interface StateDatabase permits StateDatabase.Memory, StateDatabase.Sqlite, PostgresDatabase {

    /** Nowhere: it ends with the process. */
    record Memory() implements StateDatabase {}

    /**
     * In a file.
     *
     * @param migrates whether to create and migrate it; it is checked otherwise
     */
    record Sqlite(SqliteFile file, boolean migrates) implements StateDatabase {

        /** Brings its schema up to date, or requires that it is. */
        void migrate() {
            if (migrates) {
                Schema.migrate(file);
            } else {
                Schema.require(file);
            }
        }

        /** For log lines. */
        @Override
        public String toString() {
            return "the SQLite file " + file.path();
        }
    }
}
