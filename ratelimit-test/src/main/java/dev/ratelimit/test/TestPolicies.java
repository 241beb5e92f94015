package dev.ratelimit.test;

import dev.ratelimit.admin.PolicyStorage;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.springframework.util.FileSystemUtils;

/**
 * The limits, rules, quotas and API keys that the application or a test stores: in a temporary SQLite file. Before each test
 * they are again those of the first test, which are those that the application has stored when it started.
 */
final class TestPolicies implements AutoCloseable {

    private static final List<String> TABLES =
            List.of("rate_limit_configs", "rate_limit_rules", "user_quotas", "api_keys", "rate_limit_admin_logs");

    private final Path path;
    private final SqliteFile file;
    private boolean kept;
    private long revision;

    TestPolicies(Path path) {
        this.path = path;
        this.file = SqliteFile.at(path);
    }

    /**
     * @param storage reads the file, and must notice
     */
    synchronized void reset(PolicyStorage storage) {
        try (Connection connection = file.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            if (!kept) {
                keep(statement);
            } else if (revision(statement) != revision) {
                putBack(statement);
                storage.run(transaction -> {}); // reads the changes, and waits until that is done
            }
            revision = revision(statement);
        } catch (SQLException e) {
            throw new IllegalStateException("Could not put back the rate limits in " + path + " for the next test", e);
        }
    }

    private void keep(Statement statement) throws SQLException {
        for (String table : TABLES) {
            statement.execute("CREATE TABLE first_%1$s AS SELECT * FROM %1$s".formatted(table));
        }
        kept = true;
    }

    private static void putBack(Statement statement) throws SQLException {
        statement.execute("BEGIN IMMEDIATE");
        for (String table : TABLES) {
            statement.execute("DELETE FROM " + table);
            statement.execute("INSERT INTO %1$s SELECT * FROM first_%1$s".formatted(table));
        }
        statement.execute("COMMIT");
    }

    private static long revision(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT coalesce(max(revision), 0) FROM rate_limit_changes")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public void close() throws IOException {
        FileSystemUtils.deleteRecursively(path.getParent());
    }
}
