package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each query of docs/sql.md runs on its database as it stands, and finds what is there to find. */
class OnCallSqlTest {

    private static final String RESOURCES = "examples/guides/src/main/resources/";

    /** In microseconds since the epoch. */
    private static final long NOW = System.currentTimeMillis() * 1_000;

    private static final long LATER = NOW + 3_600_000_000L;

    /** State of one user, on both databases. */
    private static final List<String> STATE = List.of(
            "INSERT INTO rate_limits (user_id, resource, algorithm, window_start, window_size, capacity, request_count,"
                    + " previous_count, tokens, blocked_until, last_request_at, last_allowed_at, expires_at)"
                    + " VALUES ('user:alice', 'api', 'fixed-window', 0, 1, 100, 7, 0, 0, 0, " + NOW + ", 0, " + LATER
                    + ")",
            "INSERT INTO rate_limit_penalties (user_id, resource, violation_count, last_violation_at, penalty_until,"
                    + " penalty_duration, forget_at) VALUES ('user:alice', 'login', 3, " + NOW + ", " + LATER
                    + ", 3600000000, " + LATER + ")",
            "INSERT INTO user_quotas (user_id, blocked_until, block_reason) VALUES ('mallory', " + LATER + ", 'fraud')",
            "INSERT INTO rate_limit_configs (resource, version, definition) VALUES ('api', 1, 'max-requests: 5')",
            "INSERT INTO rate_limit_configs (resource, version, definition) VALUES ('api', 2, 'max-requests: 6')",
            "INSERT INTO rate_limit_rules (rule_name, version, ip_range, action)"
                    + " VALUES ('scraper', 1, '203.0.113.0/24', 'block')",
            "INSERT INTO rate_limit_admin_logs (changed_by, action, kind, name, reason, state_after)"
                    + " VALUES ('olga', 'set', 'limit', 'api', 'launch day', '{\"max-requests\": \"6\"}')");

    /** A sliding log of three requests, at eight bytes each. */
    private static String log(String bytes) {
        return "INSERT INTO rate_limits (user_id, resource, algorithm, capacity, window_start, window_size, request_count,"
                + " previous_count, tokens, log, blocked_until, last_request_at, last_allowed_at, expires_at)"
                + " VALUES ('user:alice', 'log', 'sliding-log', 5, 0, 0, 0, 0, 0, " + bytes + ", 0, 0, 0, " + LATER
                + ")";
    }

    private static List<String> queries(String file, String region) {
        String sql = Documents.read(Documents.ROOT.resolve(RESOURCES + file));
        Matcher found = Pattern.compile("(?ms)^-- region " + region + "\\n(.*?)^-- endregion$")
                .matcher(sql);
        assertThat(found.find()).as("the region %s of %s", region, file).isTrue();
        List<String> queries = new ArrayList<>();
        for (String one : found.group(1).split(";")) {
            if (!one.isBlank()) {
                queries.add(one);
            }
        }
        return queries;
    }

    /** Every query finds something, and the rows of all of them together are returned. */
    private static String run(Connection connection, List<String> queries) throws SQLException {
        StringBuilder rows = new StringBuilder();
        try (Statement statement = connection.createStatement()) {
            for (String query : queries) {
                int before = rows.length();
                try (ResultSet found = statement.executeQuery(query)) {
                    append(rows, found);
                }
                assertThat(rows.length()).as("the result of %s", query).isGreaterThan(before);
            }
        }
        return rows.toString();
    }

    private static void append(StringBuilder rows, ResultSet found) throws SQLException {
        ResultSetMetaData columns = found.getMetaData();
        while (found.next()) {
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                rows.append(columns.getColumnLabel(i))
                        .append('=')
                        .append(found.getString(i))
                        .append(' ');
            }
            rows.append('\n');
        }
    }

    private static void execute(Connection connection, List<String> statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String one : statements) {
                statement.execute(one);
            }
        }
    }

    private static void assertState(String rows) {
        assertThat(rows)
                .contains("request_count=7")
                .contains("resource=log algorithm=sliding-log request_count=3 level=null capacity=5")
                .contains("user_id=mallory")
                .contains("version=2")
                .doesNotContain("version=1 definition")
                .contains("rule_name=scraper");
    }

    @Test
    void onPostgres() throws SQLException {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = TestPostgres.instance().freshSchema();
        Schema.migrate(dataSource, schema);
        try (Connection connection = dataSource.getConnection()) {
            execute(connection, List.of("SET search_path = \"" + schema + "\""));
            execute(connection, STATE);
            execute(connection, List.of(log("decode(repeat('00', 24), 'hex')")));
            execute(
                    connection,
                    List.of(
                            "INSERT INTO rate_limit_audit_logs (logged_at, log_id, user_id, ip_address, decision,"
                                    + " requests, latency_micros, server_id, region) VALUES (now(),"
                                    + " gen_random_uuid(), 'alice', '203.0.113.7', 'throttled', 9, 1, 'one', '')",
                            "INSERT INTO rate_limit_metrics VALUES (date_trunc('minute', now()), 'minute', 'api',"
                                    + " 'user:alice', '', '', 'one', 10, 6, 4, 0, 0, 0, 0, 0, now())",
                            "INSERT INTO rate_limit_metrics VALUES (date_trunc('minute', now()), 'minute', '',"
                                    + " 'user:alice', '', '', 'one', 10, 6, 4, 0, 0, 0, 0, 0, now())"));

            String file = "oncall-postgresql.sql";
            assertThat(run(connection, queries(file, "questions")))
                    .contains("violation_percent=40.00")
                    .contains("requests=10")
                    .contains("violation_count=3");
            assertState(run(connection, queries(file, "state")));
            assertThat(run(connection, queries(file, "changes"))).contains("changed_by=olga");
            assertThat(run(connection, queries(file, "requests")))
                    .contains("denied=9")
                    .contains("denied=4");
            execute(connection, List.of("RESET search_path"));
        }
    }

    @Test
    void onSqlite(@TempDir Path folder) throws SQLException {
        SqliteFile counts = SqliteFile.at(folder.resolve("ratelimit.db"));
        SqliteFile audit = SqliteFile.at(folder.resolve("ratelimit-audit.db"));
        Schema.migrate(counts);
        Schema.migrateAudit(audit);
        List<String> questions = queries("oncall-postgresql.sql", "questions");
        String file = "oncall-sqlite.sql";
        try (Connection connection = counts.dataSource().getConnection()) {
            execute(connection, STATE);
            execute(connection, List.of(log("zeroblob(24)")));

            assertThat(run(connection, List.of(questions.get(1)))).contains("violation_count=3");
            assertState(run(connection, queries(file, "state")));
            assertThat(run(connection, queries(file, "changes"))).contains("changed_by=olga");
        }
        try (Connection connection = audit.dataSource().getConnection()) {
            long minute = NOW / 60_000_000 * 60_000_000;
            String totals = "'user:alice', '', '', 'one', 10, 6, 4, 0, 0, 0, 0, 0, " + NOW + ", NULL, 0)";
            execute(
                    connection,
                    List.of(
                            "INSERT INTO rate_limit_audit_logs (logged_at, log_id, user_id, ip_address, decision,"
                                    + " requests, latency_micros, server_id, region) VALUES (" + NOW
                                    + ", 'id', 'alice', '203.0.113.7', 'throttled', 9, 1, 'one', '')",
                            "INSERT INTO rate_limit_metrics VALUES (" + minute + ", 'minute', 'api', " + totals,
                            "INSERT INTO rate_limit_metrics VALUES (" + minute + ", 'minute', '', " + totals));

            assertThat(run(connection, List.of(questions.get(0), questions.get(2), questions.get(3))))
                    .contains("violation_percent=40.0")
                    .contains("requests=10");
            assertThat(run(connection, queries(file, "requests")))
                    .contains("denied=9")
                    .contains("denied=4");
        }
    }
}
