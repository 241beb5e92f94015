package dev.ratelimit.autoconfigure;

import dev.ratelimit.store.sqlite.SqliteFile;

/** Where state is kept. */
sealed interface StateDatabase permits StateDatabase.Memory, StateDatabase.Sqlite, PostgresDatabase {

    /** Nowhere: it ends with the process. */
    record Memory() implements StateDatabase {}

    /** In a file. */
    record Sqlite(SqliteFile file) implements StateDatabase {

        /** For log lines. */
        @Override
        public String toString() {
            return "the SQLite file " + file.path();
        }
    }
}
