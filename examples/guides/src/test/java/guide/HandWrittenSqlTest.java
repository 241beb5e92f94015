package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The SQL of the documents runs as it stands, and gives what the text says. */
class HandWrittenSqlTest {

    @Test
    void everyStatementRuns() throws SQLException {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = TestPostgres.instance().freshSchema();
        Schema.migrate(dataSource, schema);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET search_path = \"" + schema + "\"");
            for (String file : new String[] {"tables.sql", "incident.sql", "recovery.sql"}) {
                for (String one : statements(file)) {
                    statement.execute(one);
                }
            }

            assertThat(number(statement, "SELECT count(*) FROM user_quotas")).isEqualTo(2);
            assertThat(number(statement, "SELECT count(*) FROM rate_limit_rules"))
                    .isEqualTo(1);
            assertThat(number(statement, "SELECT version FROM rate_limit_configs"))
                    .isEqualTo(1);
            assertThat(number(statement, "SELECT count(DISTINCT kind) FROM rate_limit_changes"))
                    .isEqualTo(3);
            statement.execute("RESET search_path");
        }
    }

    static List<String> statements(String file) {
        String sql = Documents.read(Documents.ROOT.resolve("examples/guides/src/main/resources/" + file));
        return Stream.of(sql.split(";"))
                .filter(one -> one.lines().anyMatch(line -> !line.isBlank() && !line.startsWith("--")))
                .toList();
    }

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet found = statement.executeQuery(sql)) {
            found.next();
            return found.getLong(1);
        }
    }
}
