package dev.ratelimit.audit;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteAuditUnderLoadTest extends AuditUnderLoadContract {

    @TempDir
    Path folder;

    @Override
    AuditTestDatabase create() {
        return AuditTestDatabase.sqlite(folder);
    }
}
