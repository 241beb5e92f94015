package dev.ratelimit.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.TestStores;
import dev.ratelimit.test.store.LimitStoreContract;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteLimitStoreTest extends LimitStoreContract {

    @TempDir
    Path folder;

    @Override
    protected LimitStore open(InstantSource clock) {
        return TestStores.sqlite(folder, clock);
    }

    /** With the driver of every supported Spring Boot. */
    @Test
    void logIsSeldomCopiedBack() throws SQLException {
        try (Connection connection = ((SqliteLimitStore) store).connect();
                Statement statement = connection.createStatement()) {
            assertThat(statement.executeQuery("PRAGMA wal_autocheckpoint").getInt(1))
                    .isEqualTo(6_000);
        }
    }

    @Override
    protected boolean isStored(String subject) throws SQLException {
        try (Connection connection = ((SqliteLimitStore) store).connect();
                PreparedStatement select = connection.prepareStatement("SELECT 1 FROM rate_limits WHERE user_id = ?")) {
            select.setString(1, subject);
            return select.executeQuery().next();
        }
    }

    @Override
    protected String databaseInUse() throws SQLException {
        try (Connection connection = ((SqliteLimitStore) store).connect()) {
            return connection.getMetaData().getDatabaseProductName() + " "
                    + connection.getMetaData().getDatabaseProductVersion();
        }
    }

    @Override
    protected String expectedDatabase() {
        return "SQLite 3\\.5.*";
    }
}
