package example.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class CleanupTest {

    @Test
    @Timeout(60)
    void deletesExpiredStateAndKeepsTheRest(@TempDir Path directory) throws Exception {
        Path path = directory.resolve("ratelimit.db");
        SqliteFile file = SqliteFile.at(path);
        Schema.migrate(file);
        Limit brief = Limit.named("brief")
                .algorithm(new FixedWindow(5, Duration.ofMillis(1)))
                .build();
        Limit daily = Limit.named("daily")
                .algorithm(new FixedWindow(5, Duration.ofDays(1)))
                .build();
        try (SqliteLimitStore store = new SqliteLimitStore(file);
                StoreRateLimiter limiter =
                        StoreRateLimiter.builder(store, Limits.of(brief, daily)).build()) {
            limiter.decide(Subject.user("alice"), "brief");
            limiter.decide(Subject.user("alice"), "daily");
        }
        Map<String, String> env = Map.of("SQLITE_FILE", path.toString(), "STALE_TTL", "PT0S");
        while (Cleanup.run(env).states() == 0) {
            Thread.sleep(2); // until the window of a millisecond has ended
        }

        assertThat(Cleanup.run(env).states()).isZero();
        try (SqliteLimitStore store = new SqliteLimitStore(file);
                StoreRateLimiter limiter =
                        StoreRateLimiter.builder(store, Limits.of(daily)).build()) {
            assertThat(limiter.peek(Subject.user("alice"), "daily").remaining()).isEqualTo(4);
        }
    }
}
