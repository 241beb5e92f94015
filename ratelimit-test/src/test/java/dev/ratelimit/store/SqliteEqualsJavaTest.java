package dev.ratelimit.store;

import dev.ratelimit.store.sqlite.SqliteFile;
import java.nio.file.Path;
import java.time.InstantSource;
import javax.sql.DataSource;
import org.junit.jupiter.api.io.TempDir;

/** Holds the SQLite store, which reads each row of a group once and writes it once, equal to the one in memory. */
class SqliteEqualsJavaTest extends StoreEqualsJava {

    @TempDir
    private Path folder;

    @Override
    protected LimitStore open(InstantSource clock) {
        return TestStores.sqlite(folder, clock);
    }

    @Override
    DataSource database() {
        return SqliteFile.at(folder.resolve("ratelimit.db")).dataSource();
    }

    @Override
    String table(String name) {
        return name;
    }

    @Override
    String clearing(String table) {
        return "DELETE FROM " + table;
    }
}
