package dev.ratelimit.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import dev.ratelimit.autoconfigure.RateLimitProperties.Postgresql;
import dev.ratelimit.store.sqlite.SqliteFile;
import org.jspecify.annotations.Nullable;

/** Where state is kept. */
sealed interface StateDatabase {

    /** Nowhere: it ends with the process. */
    record Memory() implements StateDatabase {}

    /** In a file. */
    record Sqlite(SqliteFile file) implements StateDatabase {}

    /** In a schema of a PostgreSQL database. */
    record Postgres(
            String url, @Nullable String username, @Nullable String password, Postgresql settings)
            implements StateDatabase {

        /** Connections of our own, so that those of the application are never taken. */
        HikariConfig pool(String name, int size) {
            HikariConfig config = new HikariConfig();
            config.setPoolName(name);
            config.setJdbcUrl(url);
            config.setUsername(username);
            config.setPassword(password);
            config.setMaximumPoolSize(size);
            config.addDataSourceProperty("ApplicationName", "ratelimit");
            return config;
        }

        /** Keeps the password out of logs. */
        @Override
        public String toString() {
            return "Postgres[" + settings + "]";
        }
    }
}
