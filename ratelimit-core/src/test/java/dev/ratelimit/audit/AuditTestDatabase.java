package dev.ratelimit.audit;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A real database with the current schema and nothing in it.
 *
 * @param prefix of the names of tables in SQL
 * @param address for {@link #at}
 */
record AuditTestDatabase(
        String prefix, DataSource dataSource, Function<DataSource, AuditDatabase> opening, List<String> address) {

    static AuditTestDatabase sqlite(Path folder) {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit-audit.db")).busyTimeout(Duration.ofSeconds(10));
        Schema.migrateAudit(file);
        return new AuditTestDatabase(
                "",
                file.dataSource(),
                SqliteAuditDatabase::new,
                List.of(file.path().toString()));
    }

    /** In a schema of its own, whose name must be quoted. */
    static AuditTestDatabase postgres() {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = "Test" + TestPostgres.instance().freshSchema();
        Schema.migrate(dataSource, schema);
        return new AuditTestDatabase(
                '"' + schema + "\".",
                dataSource,
                from -> AuditDatabase.postgres(from, schema),
                List.of(TestPostgres.instance().jdbcUrl(), schema));
    }

    /** The same without partitions. */
    static AuditTestDatabase plain() {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = "Test" + TestPostgres.instance().freshSchema();
        Schema.migratePlain(dataSource, schema);
        return new AuditTestDatabase(
                '"' + schema + "\".",
                dataSource,
                from -> AuditDatabase.postgres(from, schema),
                List.of(TestPostgres.instance().jdbcUrl(), schema));
    }

    /** As another process opens it. */
    static AuditDatabase at(List<String> address) {
        if (address.size() == 1) {
            return AuditDatabase.sqlite(SqliteFile.at(Path.of(address.get(0))));
        }
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(address.get(0));
        return AuditDatabase.postgres(dataSource, address.get(1));
    }

    /** As another instance would open it. */
    AuditDatabase open() {
        return opening.apply(dataSource);
    }

    /** As an instance would open it whose connections are like that. */
    AuditDatabase open(UnaryOperator<DataSource> connections) {
        return opening.apply(connections.apply(dataSource));
    }

    /** Refuses new rows of totals per hour, while those per minute can be written. */
    void refuseHours() {
        if (prefix.isEmpty()) {
            execute("CREATE TRIGGER no_hours BEFORE INSERT ON rate_limit_metrics WHEN NEW.granularity = 'hour'"
                    + " BEGIN SELECT RAISE(ABORT, 'hours are refused'); END");
        } else {
            execute("ALTER TABLE %srate_limit_metrics ADD CONSTRAINT hours_are_refused CHECK (granularity <> 'hour')");
        }
    }

    void acceptHours() {
        execute(
                prefix.isEmpty()
                        ? "DROP TRIGGER no_hours"
                        : "ALTER TABLE %srate_limit_metrics DROP CONSTRAINT hours_are_refused");
    }

    /** Lets every write wait until it is closed. */
    AutoCloseable stall() throws SQLException {
        Connection connection = dataSource.getConnection();
        try (Statement statement = connection.createStatement()) {
            if (prefix.isEmpty()) {
                statement.execute("BEGIN IMMEDIATE");
                return () -> {
                    try (Statement end = connection.createStatement()) {
                        end.execute("ROLLBACK");
                    }
                    connection.close();
                };
            }
            connection.setAutoCommit(false);
            statement.execute("LOCK TABLE " + prefix + "rate_limit_audit_logs, " + prefix + "rate_limit_metrics");
        }
        return () -> {
            connection.rollback();
            connection.setAutoCommit(true);
            connection.close();
        };
    }

    /** Runs SQL by hand; {@code %s} stands before the names of tables. */
    List<Map<String, Object>> query(String sql, Object... values) {
        return new JdbcTemplate(dataSource).queryForList(sql.replace("%s", prefix), values);
    }

    void execute(String sql) {
        new JdbcTemplate(dataSource).execute(sql.replace("%s", prefix));
    }

    long number(String sql) {
        Long number = new JdbcTemplate(dataSource).queryForObject(sql.replace("%s", prefix), Long.class);
        return number == null ? 0 : number;
    }

    long count(String table) {
        return number("SELECT count(*) FROM %s" + table);
    }
}
