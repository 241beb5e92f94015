package dev.ratelimit.sample;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import java.io.IOException;
import java.io.UncheckedIOException;
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

    /** One for all: every test class shares one application. Deleted when that ends. */
    record Folder(Path path) implements AutoCloseable {

        static final Folder TEMPORARY = create();

        private static Folder create() {
            try {
                return new Folder(Files.createTempDirectory("sample"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        Path database() {
            return path.resolve("ratelimit.db");
        }

        @Override
        public void close() throws IOException {
            FileSystemUtils.deleteRecursively(path);
        }
    }

    @Bean
    Folder folder() {
        return Folder.TEMPORARY;
    }

    @Bean
    SqliteFile file(Folder folder) {
        return SqliteFile.at(folder.database());
    }

    /** By the name of the one it replaces, so that keys and quotas are kept in tables beside it. */
    @Bean
    LimitStore rateLimitStore(SqliteFile file, MovableClock clock) {
        Schema.migrate(file);
        return new SqliteLimitStore(file, clock);
    }
}
