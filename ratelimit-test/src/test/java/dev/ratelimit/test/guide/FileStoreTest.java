package dev.ratelimit.test.guide;

// region test
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.test.store.LimitStoreContract;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;

class FileStoreTest extends LimitStoreContract {

    @TempDir
    Path folder;

    private SqliteFile file;

    @Override
    protected LimitStore open(InstantSource clock) {
        file = SqliteFile.at(folder.resolve("limits.db"));
        Schema.migrate(file);
        return new SqliteLimitStore(file, clock);
    }

    @Override
    protected boolean isStored(String subject) {
        return !new JdbcTemplate(file.dataSource())
                .queryForList("SELECT 1 FROM rate_limits WHERE user_id = ?", subject)
                .isEmpty();
    }
}
// endregion
