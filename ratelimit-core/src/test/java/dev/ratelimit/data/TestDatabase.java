package dev.ratelimit.data;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A real database with the current schema and nothing in it, as the tests of this package need it. */
final class TestDatabase {

    static final List<String> TABLES = List.of(
            "rate_limits",
            "rate_limit_penalties",
            "rate_limit_configs",
            "rate_limit_rules",
            "user_quotas",
            "api_keys",
            "rate_limit_admin_logs",
            "rate_limit_changes");

    private final String prefix;
    private final DataSource dataSource;
    private final Supplier<PolicyDatabase> opening;
    private final Function<InstantSource, LimitStore> stores;

    private TestDatabase(
            String prefix,
            DataSource dataSource,
            Supplier<PolicyDatabase> opening,
            Function<InstantSource, LimitStore> stores) {
        this.prefix = prefix;
        this.dataSource = dataSource;
        this.opening = opening;
        this.stores = stores;
    }

    static TestDatabase sqlite(Path folder) {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db")).busyTimeout(Duration.ofSeconds(10));
        Schema.migrate(file);
        return new TestDatabase(
                "", file.dataSource(), () -> PolicyDatabase.sqlite(file), clock -> new SqliteLimitStore(file, clock));
    }

    /** In a schema of its own, whose name must be quoted. */
    static TestDatabase postgres() {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = "Test" + TestPostgres.instance().freshSchema();
        Schema.migrate(dataSource, schema);
        return new TestDatabase(
                '"' + schema + "\".",
                dataSource,
                () -> PolicyDatabase.postgres(dataSource, schema),
                clock -> new PostgresLimitStore(dataSource, schema, clock));
    }

    /** With tables that have no triggers, and a store that decides by swaps. */
    static TestDatabase plain() {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = "Test" + TestPostgres.instance().freshSchema();
        Schema.migratePlain(dataSource, schema);
        return new TestDatabase(
                '"' + schema + "\".",
                dataSource,
                () -> PolicyDatabase.postgres(dataSource, schema),
                clock -> new PostgresSwapStore(dataSource, schema, clock));
    }

    /** As another instance would open it. */
    PolicyDatabase open() {
        return opening.get();
    }

    LimitStore store(InstantSource clock) {
        return stores.apply(clock);
    }

    DataSource dataSource() {
        return dataSource;
    }

    String schema() {
        return prefix.isEmpty() ? null : prefix.substring(1, prefix.length() - 2);
    }

    /** Runs SQL by hand; {@code %s} stands before the names of tables. */
    void execute(String sql, Object... values) {
        new JdbcTemplate(dataSource).update(sql.replace("%s", prefix), values);
    }

    List<Map<String, Object>> query(String sql, Object... values) {
        return new JdbcTemplate(dataSource).queryForList(sql.replace("%s", prefix), values);
    }

    long count(String table) {
        return new JdbcTemplate(dataSource).queryForObject("SELECT count(*) FROM " + prefix + table, Long.class);
    }

    /** All that is in the tables. */
    String contents() {
        StringBuilder contents = new StringBuilder();
        TABLES.forEach(table -> contents.append(query("SELECT * FROM %s" + table)));
        return contents.toString();
    }
}
