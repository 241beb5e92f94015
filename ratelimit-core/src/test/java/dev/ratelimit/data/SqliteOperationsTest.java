package dev.ratelimit.data;

import dev.ratelimit.store.jdbc.DatabaseProduct;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteOperationsTest extends OperationsContract {

    @TempDir
    Path folder;

    @Override
    protected TestDatabase create() {
        return TestDatabase.sqlite(folder);
    }

    @Override
    protected DatabaseProduct product() {
        return DatabaseProduct.SQLITE;
    }
}
