package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.upkeep.Upkeep;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The box of the testing checklist that needs tables, and so a store of its own. */
@DirtiesContext // closes the file before its folder is deleted
class CleanupTest extends RunningSample {

    @TempDir
    static Path folder;

    @Autowired
    Upkeep upkeep;

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry properties) {
        properties.add("ratelimit.store.type", () -> "sqlite");
        properties.add(
                "ratelimit.store.sqlite.path",
                () -> folder.resolve("ratelimit.db").toString());
    }

    @Test
    @DisplayName("Cleanup job removes stale buckets")
    void cleanupJobRemovesStaleBuckets() throws SQLException {
        sample.read("alice");
        sample.post("alice");
        pass(Duration.ofHours(2));
        sample.read("bob");

        upkeep.run();

        assertThat(rowsOf("user:alice")).isZero();
        assertThat(rowsOf("user:bob")).as("what is in use stays").isEqualTo(2);
    }

    /** Without the quota, which is kept as long as its month. */
    private long rowsOf(String subject) throws SQLException {
        try (Connection connection = SqliteFile.at(folder.resolve("ratelimit.db"))
                        .dataSource()
                        .getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM rate_limits WHERE user_id = '" + subject
                        + "' AND resource NOT LIKE 'quota:%'")) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
