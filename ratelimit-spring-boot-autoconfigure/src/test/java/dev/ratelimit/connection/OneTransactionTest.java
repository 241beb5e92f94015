package dev.ratelimit.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** Migrations whose statements must not be spread over several connections of the server. */
class OneTransactionTest {

    private final String schema = TestPostgres.instance().freshSchema();
    private final HikariDataSource pool = new HikariDataSource();
    private final JdbcTemplate template = new JdbcTemplate(pool);

    OneTransactionTest() {
        pool.setJdbcUrl(TestPostgres.instance().jdbcUrl());
        pool.setMaximumPoolSize(1);
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void migrationLeavesNothingOnTheConnection() {
        for (int i = 0; i < 2; i++) {
            OneTransaction.run(pool, one -> Schema.migrate(one, schema));

            assertThat(template.queryForObject("SELECT count(*) FROM " + schema + ".rate_limits", Long.class))
                    .isZero();
            assertThat(template.queryForObject("SHOW search_path", String.class))
                    .isEqualTo("\"$user\", public");
            assertThat(template.queryForObject("SHOW role", String.class)).isEqualTo("none");
            assertThat(template.queryForObject(
                            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'" + " AND pid = pg_backend_pid()",
                            Long.class))
                    .isZero();
        }
    }

    @Test
    void failedWorkLeavesNothingBehind() {
        assertThatThrownBy(() -> OneTransaction.run(pool, one -> {
                    execute(one, "CREATE SCHEMA " + schema);
                    execute(one, "SELECT set_config('search_path', '" + schema + "', false)");
                    throw new IllegalStateException("no more");
                }))
                .hasMessage("no more");

        assertThat(template.queryForObject("SELECT to_regnamespace('" + schema + "') IS NULL", Boolean.class))
                .isTrue();
        assertThat(template.queryForObject("SHOW search_path", String.class)).isEqualTo("\"$user\", public");
    }

    @Test
    void workMayTryAgainAfterAFailure() {
        OneTransaction.run(pool, one -> {
            assertThatThrownBy(() -> execute(one, "SELECT nothing FROM nowhere"))
                    .hasMessageContaining("nowhere");
            execute(one, "CREATE SCHEMA " + schema);
        });

        assertThat(template.queryForObject("SELECT to_regnamespace('" + schema + "') IS NULL", Boolean.class))
                .isFalse();
    }

    private static void execute(DataSource dataSource, String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    @Test
    void instancesMayMigrateAtTheSameTime() throws Exception {
        ExecutorService instances = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> migrations = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                migrations.add(instances.submit(() ->
                        OneTransaction.run(TestPostgres.instance().dataSource(), one -> Schema.migrate(one, schema))));
            }
            for (Future<?> migration : migrations) {
                migration.get();
            }
        } finally {
            instances.shutdown();
        }
        assertThat(template.queryForObject(
                        "SELECT count(*) FROM " + schema + "." + Schema.HISTORY_TABLE + " WHERE version = '1'",
                        Long.class))
                .isEqualTo(1);
    }
}
