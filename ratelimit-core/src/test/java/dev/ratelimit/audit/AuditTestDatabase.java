package dev.ratelimit.audit;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A real database with the current schema and nothing in it. */
record AuditTestDatabase(String prefix, DataSource dataSource, Supplier<AuditDatabase> opening) {

    static AuditTestDatabase sqlite(Path folder) {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit-audit.db"));
        Schema.migrateAudit(file);
        return new AuditTestDatabase("", file.dataSource(), () -> AuditDatabase.sqlite(file));
    }

    /** In a schema of its own, whose name must be quoted. */
    static AuditTestDatabase postgres() {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = "Test" + TestPostgres.instance().freshSchema();
        Schema.migrate(dataSource, schema);
        return new AuditTestDatabase(
                '"' + schema + "\".", dataSource, () -> AuditDatabase.postgres(dataSource, schema));
    }

    /** As another instance would open it. */
    AuditDatabase open() {
        return opening.get();
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
