package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Processes that share a database share its limits to the last request. */
@Timeout(120)
class ManyProcessesTest {

    private static final Logger log = LoggerFactory.getLogger(ManyProcessesTest.class);

    private static final int PROCESSES = 4;

    @Test
    void processesOnOneSqliteFileAdmitExactlyTheLimit(@TempDir Path folder) throws Exception {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        Schema.migrate(file);

        useUpTogether(List.of("sqlite"), file.path().toString());

        assertUsedUp(file.dataSource(), "main");
    }

    /** Both ways to decide may be used at once, as while an application is rolled out. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "postgresql-swap", "postgresql,postgresql-swap"})
    void processesOnOnePostgresAdmitExactlyTheLimit(String kinds) throws Exception {
        TestPostgres postgres = TestPostgres.instance();
        String schema = postgres.freshSchema();
        Schema.migrate(postgres.dataSource(), schema);

        useUpTogether(List.of(kinds.split(",")), postgres.jdbcUrl(), schema);

        assertUsedUp(postgres.dataSource(), schema);
    }

    /**
     * @param kinds those of the stores, in turn
     */
    private static void useUpTogether(List<String> kinds, String... where) throws Exception {
        List<LimiterChild> children = new ArrayList<>();
        Set<Integer> sharing = new HashSet<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                List<String> arguments = new ArrayList<>(List.of(kinds.get(i % kinds.size())));
                arguments.addAll(List.of(where));
                arguments.add("use-up");
                children.add(LimiterChild.start(arguments.toArray(String[]::new)));
            }
            for (Limit limit : LimiterProcess.LIMITS) {
                for (LimiterChild child : children) {
                    assertThat(child.line()).isEqualTo("ready");
                }
                for (LimiterChild child : children) {
                    child.signal();
                }
                List<Integer> admitted = new ArrayList<>();
                for (LimiterChild child : children) {
                    String[] said = child.line().split(" ");
                    assertThat(said[0]).isEqualTo(limit.name());
                    assertThat(said[2]).as("undecided").isEqualTo("0");
                    admitted.add(Integer.parseInt(said[1]));
                }
                log.info("{}, {}: the processes admitted {}", kinds, limit.name(), admitted);
                assertThat(admitted.stream().mapToInt(Integer::intValue).sum())
                        .as("admitted by %s in all, of which each process %s", limit.name(), admitted)
                        .isEqualTo(LimiterProcess.GRANTED);
                for (int i = 0; i < PROCESSES; i++) {
                    if (admitted.get(i) > 0) {
                        sharing.add(i);
                    }
                }
            }
            assertThat(sharing).as("processes that had a share").hasSizeGreaterThan(1);
        } finally {
            children.forEach(LimiterChild::close);
        }
    }

    private static void assertUsedUp(DataSource dataSource, String schema) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement select = connection.prepareStatement("""
                        SELECT resource, request_count, length(log) / 8, tokens / window_size
                        FROM %s.rate_limits WHERE user_id = ?
                        ORDER BY resource
                        """.formatted(schema))) {
            select.setString(1, LimiterProcess.SUBJECT.text());
            List<String> rows = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    rows.add(
                            switch (row.getString(1)) {
                                case "fixed-window" -> "counted " + row.getLong(2);
                                case "sliding-log" -> "logged " + row.getLong(3);
                                default -> "left " + row.getLong(4);
                            });
                }
            }
            assertThat(rows)
                    .containsExactly("counted " + LimiterProcess.GRANTED, "logged " + LimiterProcess.GRANTED, "left 0");
        }
    }
}
