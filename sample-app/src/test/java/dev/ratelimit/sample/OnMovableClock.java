package dev.ratelimit.sample;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.jdbc.SqliteFile;
import dev.ratelimit.store.jdbc.SqliteLimitStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.util.FileSystemUtils;

/** Replaces the store by one in a temporary SQLite file that asks a {@link MovableClock} for the time. */
@TestConfiguration(proxyBeanMethods = false)
class OnMovableClock {

    @Bean
    MovableClock clock() {
        return new MovableClock();
    }

    /** Deleted when the application ends. */
    record Folder(Path path) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            FileSystemUtils.deleteRecursively(path);
        }
    }

    @Bean
    Folder folder() throws IOException {
        return new Folder(Files.createTempDirectory("sample"));
    }

    @Bean
    SqliteFile file(Folder folder) {
        return SqliteFile.at(folder.path().resolve("ratelimit.db"));
    }

    @Bean
    LimitStore store(SqliteFile file, MovableClock clock) {
        Schema.migrate(file);
        return new SqliteLimitStore(file, clock);
    }
}
