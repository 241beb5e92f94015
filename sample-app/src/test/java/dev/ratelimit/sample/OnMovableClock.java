package dev.ratelimit.sample;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.jdbc.SqliteFile;
import dev.ratelimit.store.jdbc.SqliteLimitStore;
import java.io.IOException;
import java.nio.file.Files;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

/** Replaces the store by one in a temporary SQLite file that asks a {@link MovableClock} for the time. */
@TestConfiguration(proxyBeanMethods = false)
class OnMovableClock {

    @Bean
    MovableClock clock() {
        return new MovableClock();
    }

    @Bean
    SqliteFile file() throws IOException {
        return SqliteFile.at(Files.createTempDirectory("sample").resolve("ratelimit.db"));
    }

    @Bean
    LimitStore store(SqliteFile file, MovableClock clock) {
        Schema.migrate(file);
        return new SqliteLimitStore(file, clock);
    }
}
