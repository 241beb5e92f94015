package dev.ratelimit.schema;

import static dev.ratelimit.schema.Migrations.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ratelimit.store.sqlite.SqliteFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** People look at the file, and change it, with the command-line tool of their system. It is older than our engine. */
class SqliteByHandTest {

    @TempDir
    private Path folder;

    private SqliteFile file;

    @BeforeEach
    void create() {
        file = SqliteFile.at(folder.resolve("limits.db"));
        Schema.migrate(file);
    }

    /** Tables that are STRICT need 3.37 (2021), unixepoch needs 3.38, its subsec 3.42. RHEL 9 has 3.34. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "strict",
                "unixepoch(",
                "subsec",
                "->",
                "returning",
                "generated",
                "concat(",
                "iif(",
                "materialized"
            })
    void schemaUsesNothingThatOldToolsRefuse(String word) {
        List<String> definitions =
                query(file.dataSource(), "SELECT lower(sql) FROM sqlite_master WHERE sql IS NOT NULL");

        assertThat(definitions)
                .hasSizeGreaterThan(15)
                .noneMatch(sql -> withoutComments(sql).contains(word));
    }

    private static String withoutComments(String sql) {
        return sql.replaceAll("--[^\n]*", "");
    }

    @Test
    void toolOfTheSystemReadsAndChangesEveryTable() throws Exception {
        assumeTrue(isInstalled(), "sqlite3 is not installed");

        assertThat(sqlite3("SELECT count(*) FROM rate_limits")).isEqualTo("0");
        sqlite3(
                "INSERT INTO rate_limit_configs (resource, version, definition)"
                        + " VALUES ('api', 1, 'algorithm: token-bucket' || char(10) || 'burst: 50' || char(10) || 'refill: 10/s')");
        sqlite3(
                "INSERT INTO rate_limit_rules (rule_name, version, endpoint_pattern, limits) VALUES ('api', 1, '/api/**', 'api')");
        sqlite3("INSERT INTO user_quotas (user_id, tier, per_hour) VALUES ('alice', 'premium', 5000)");
        sqlite3("UPDATE user_quotas SET per_hour = 6000 WHERE user_id = 'alice'");
        sqlite3("DELETE FROM rate_limit_rules WHERE rule_name = 'api'");

        assertThat(query(file.dataSource(), "SELECT kind || ' ' || name FROM rate_limit_changes ORDER BY revision"))
                .containsExactly("limit api", "rule api", "quota alice", "quota alice", "rule api");
        long micros = Long.parseLong(query(file.dataSource(), "SELECT changed_at FROM rate_limit_configs")
                .get(0));
        assertThat(Duration.between(Instant.ofEpochSecond(0, micros * 1_000), Instant.now())
                        .abs())
                .isLessThan(Duration.ofHours(1));
    }

    @Test
    void mistakesAreRefused() throws Exception {
        assumeTrue(isInstalled(), "sqlite3 is not installed");

        assertThat(sqlite3("INSERT INTO user_quotas (user_id, per_hour) VALUES ('alice', 'many')"))
                .contains("CHECK constraint failed");
        assertThat(sqlite3("INSERT INTO user_quotas (user_id, blocked_until) VALUES ('alice', 'tomorrow')"))
                .contains("CHECK constraint failed");
        assertThat(sqlite3("INSERT INTO rate_limit_rules (rule_name, version, priority) VALUES ('api', 1, 1.5)"))
                .contains("CHECK constraint failed");
        assertThat(query(file.dataSource(), "SELECT count(*) FROM rate_limit_changes"))
                .containsExactly("0");
    }

    private static boolean isInstalled() throws InterruptedException {
        try {
            return new ProcessBuilder("sqlite3", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private String sqlite3(String sql) throws Exception {
        List<String> command = new ArrayList<>(List.of("sqlite3", file.path().toString(), sql));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return output;
    }
}
