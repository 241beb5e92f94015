package dev.ratelimit.starter;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

class PolicyOnSqliteTest extends PolicyRequests {

    @TempDir
    static Path directory;

    @Override
    List<String> store() {
        return List.of("ratelimit.store.sqlite.path=" + directory.resolve("ratelimit.db"));
    }
}
