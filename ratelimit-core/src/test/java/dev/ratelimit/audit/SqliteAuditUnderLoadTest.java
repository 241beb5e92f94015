package dev.ratelimit.audit;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteAuditUnderLoadTest extends AuditUnderLoadContract {

    @TempDir
    Path folder;

    @Override
    AuditTestDatabase create() {
        return AuditTestDatabase.sqlite(folder);
    }

    /** In a file of its own. */
    @Override
    LimitStore store(AuditTestDatabase database) {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        Schema.migrate(file);
        return new SqliteLimitStore(file);
    }
}
