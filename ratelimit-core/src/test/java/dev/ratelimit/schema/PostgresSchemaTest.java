package dev.ratelimit.schema;

import static dev.ratelimit.schema.Migrations.atOnce;
import static dev.ratelimit.schema.Migrations.execute;
import static dev.ratelimit.schema.Migrations.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

class PostgresSchemaTest {

    private static final String DIALECT = "postgresql";

    private final DataSource dataSource = TestPostgres.instance().dataSource();
    private final String schema = TestPostgres.instance().freshSchema();

    private List<String> tables(String name) {
        return query(
                dataSource, "SELECT tablename FROM pg_tables WHERE schemaname = '" + name + "' ORDER BY tablename");
    }

    private List<String> appliedVersions(String name) {
        return query(dataSource, "SELECT version FROM \"" + name + "\".ratelimit_schema_history ORDER BY version");
    }

    private void assertCurrent(String name) {
        assertThat(tables(name)).contains("rate_limits", "rate_limit_penalties", "ratelimit_schema_history");
        assertThat(appliedVersions(name)).isEqualTo(Migrations.known(DIALECT));
    }

    /** Everything in the schema with the transaction that last changed it, and the rows of the history likewise. */
    private List<String> contents() {
        return query(dataSource, """
                SELECT 'schema ' || xmin || ' ' || nspname FROM pg_namespace WHERE nspname = '%1$s'
                UNION ALL SELECT 'relation ' || xmin || ' ' || oid || ' ' || relname FROM pg_class
                    WHERE relnamespace = '%1$s'::regnamespace
                UNION ALL SELECT 'function ' || xmin || ' ' || oid || ' ' || proname FROM pg_proc
                    WHERE pronamespace = '%1$s'::regnamespace
                UNION ALL SELECT 'column ' || a.xmin || ' ' || attrelid || ' ' || attname FROM pg_attribute a
                    JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = '%1$s'::regnamespace
                UNION ALL SELECT 'history ' || xmin || ' ' || version FROM "%1$s".ratelimit_schema_history
                ORDER BY 1
                """.formatted(schema));
    }

    @Test
    void aFreshDatabaseGetsTheTables() {
        Schema.migrate(dataSource, schema);

        assertCurrent(schema);
    }

    @Test
    void aCurrentSchemaIsLeftAsItIs() {
        Schema.migrate(dataSource, schema);
        List<String> before = contents();

        Schema.migrate(dataSource, schema);

        assertThat(contents()).isEqualTo(before).hasSizeGreaterThan(20);
    }

    @Test
    void anOlderSchemaIsMigrated() {
        Schema.migrate(dataSource, schema);
        execute(dataSource, "INSERT INTO " + schema + ".rate_limits(user_id, resource) VALUES ('user:alice', 'api')");

        new PostgresSchema(dataSource, schema, Migrations.withNext(DIALECT, "V2__postgresql.sql")).migrate();

        assertThat(appliedVersions(schema)).containsExactly("1", "2");
        assertThat(query(dataSource, "SELECT user_id FROM " + schema + ".rate_limits WHERE note IS NULL"))
                .containsExactly("user:alice");
    }

    @Test
    void aMigrationThatFailsChangesNothing() {
        Scripts failing = Migrations.withNext(DIALECT, "V2__postgresql_fails.sql");
        PostgresSchema next = new PostgresSchema(dataSource, schema, failing);

        assertThatThrownBy(next::migrate).isInstanceOf(SchemaException.class).hasMessageContaining("division by zero");
        assertThat(query(dataSource, "SELECT nspname FROM pg_namespace WHERE nspname = '" + schema + "'"))
                .isEmpty();

        Schema.migrate(dataSource, schema);
        List<String> before = contents();
        assertThatThrownBy(next::migrate).isInstanceOf(SchemaException.class);
        assertThat(contents()).isEqualTo(before);
    }

    @Test
    void withoutTheRightToMigrateMissingAndOlderTablesAreSaid() {
        assertThatThrownBy(() -> Schema.require(dataSource, schema))
                .isInstanceOf(SchemaException.class)
                .hasMessage("the PostgreSQL schema " + schema + " has no tables of rate limits; run"
                        + " dev/ratelimit/schema/postgresql/V1__rate_limits.sql of the ratelimit-core jar");
        assertThat(tables(schema)).isEmpty();
        Schema.migrate(dataSource, schema);
        List<String> before = contents();
        Schema.require(dataSource, schema);
        assertThat(contents()).isEqualTo(before);

        Scripts next = Migrations.withNext(DIALECT, "V2__postgresql.sql");
        assertThatThrownBy(() -> new PostgresSchema(dataSource, schema, next).require())
                .isInstanceOf(SchemaException.class)
                .hasMessage(
                        "the PostgreSQL schema " + schema
                                + " is at version 1; run dev/ratelimit/schema/next/V2__postgresql.sql of the ratelimit-core jar");
    }

    /** Else a table that is added would be forgotten there. */
    @Test
    void theScriptOfGrantsNamesEveryTable() {
        Schema.migrate(dataSource, schema);
        String grants = Scripts.POSTGRESQL.text("grants.sql");

        // Partitions are used through their tables.
        assertThat(tables(schema))
                .isNotEmpty()
                .filteredOn(table ->
                        !table.matches(".*_(minute|hour|day)(_\\d{4}_\\d\\d)?|rate_limit_audit_logs_\\d{4}_\\d\\d"))
                .contains("rate_limit_audit_logs", "rate_limit_metrics")
                .allSatisfy(table -> assertThat(grants).contains(" ON ratelimit." + table + " TO :\"role\";"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void everyScriptInTheJarIsRun(String dialect) {
        Scripts scripts = dialect.equals("sqlite") ? Scripts.SQLITE : Scripts.POSTGRESQL;

        assertThat(scripts.all())
                .extracting(script -> String.valueOf(script.version()))
                .isEqualTo(Migrations.known(dialect));
    }

    @Test
    void instancesThatStartAtOnceMigrateOnce() throws Exception {
        atOnce(6, () -> Schema.migrate(separateDataSource(), schema));

        assertCurrent(schema);
    }

    @Test
    void instancesThatStartAtOnceInAnEmptySchemaMigrateOnce() throws Exception {
        execute(dataSource, "CREATE SCHEMA " + schema);

        atOnce(6, () -> Schema.migrate(separateDataSource(), schema));

        assertCurrent(schema);
    }

    @Test
    void instancesThatStartAtOnceBesideTablesOfTheApplicationMigrateOnce() throws Exception {
        execute(dataSource, "CREATE SCHEMA " + schema, "CREATE TABLE " + schema + ".campaigns (id int)");

        atOnce(6, () -> Schema.migrate(separateDataSource(), schema));

        assertCurrent(schema);
    }

    private static DataSource separateDataSource() {
        PGSimpleDataSource separate = new PGSimpleDataSource();
        separate.setURL(TestPostgres.instance().jdbcUrl());
        return separate;
    }

    @Test
    void aNewerSchemaIsRefusedAndLeftAsItIs() {
        Schema.migrate(dataSource, schema);
        insertHistory(998);
        insertHistory(999);
        List<String> before = contents();

        assertThatThrownBy(() -> Schema.migrate(dataSource, schema))
                .isInstanceOf(SchemaException.class)
                .hasMessage("the PostgreSQL schema " + schema + " is at version 999, but this library supports"
                        + " versions up to " + Migrations.newest(DIALECT) + "; upgrade the library");
        assertThat(contents()).isEqualTo(before);
    }

    private void insertHistory(int version) {
        execute(
                dataSource,
                "INSERT INTO " + schema + ".ratelimit_schema_history (version, script) VALUES (" + version + ", 'V"
                        + version + "__from_the_future.sql')");
    }

    @Test
    void schemasOfOneDatabaseAreIndependent() {
        String other = TestPostgres.instance().freshSchema();
        Schema.migrate(dataSource, schema);
        assertThat(tables(other)).isEmpty();
        Schema.migrate(dataSource, other);
        assertCurrent(schema);
        assertCurrent(other);
        Limit once = Limit.named("api")
                .algorithm(new FixedWindow(1, Duration.ofHours(1)))
                .build();
        LimitRequest request = LimitRequest.of(Subject.user("alice"), "api");

        try (StoreRateLimiter here = StoreRateLimiter.builder(
                                new PostgresLimitStore(dataSource, schema), Limits.of(once))
                        .build();
                StoreRateLimiter there = StoreRateLimiter.builder(
                                new PostgresLimitStore(dataSource, other), Limits.of(once))
                        .build()) {
            assertThat(here.decide(request).limits()).hasSize(1).allMatch(each -> each.outcome() == Outcome.ALLOWED);
            assertThat(there.decide(request).limits()).hasSize(1).allMatch(each -> each.outcome() == Outcome.ALLOWED);
            assertThat(here.decide(request).limits()).hasSize(1).noneMatch(each -> each.outcome() == Outcome.ALLOWED);
        }
    }

    @Test
    void aSchemaNameKeepsItsCapitals() {
        String name = "Test" + schema.substring("test".length());

        Schema.migrate(dataSource, name);

        assertCurrent(name);
        assertThat(tables(name.toLowerCase(Locale.ROOT))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "my schema",
                "7up",
                "a-b",
                "a.b",
                "a\"b",
                "a;DROP SCHEMA public",
                "größe",
                "a$b",
                "a\n",
                "a234567890123456789012345678901234567890123456789012345678901234"
            })
    void anOddSchemaNameIsRefused(String name) {
        String message = "schema is '" + name + "'; write 1 to 63 letters, digits or '_', no digit first";

        assertThatThrownBy(() -> Schema.migrate(dataSource, name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
        assertThatThrownBy(() -> new PostgresLimitStore(dataSource, name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void theApplicationsTablesAndMigrationsAreLeftAlone(@TempDir Path migrations) throws IOException {
        Files.writeString(
                migrations.resolve("V1__campaigns.sql"),
                "CREATE TABLE campaigns (id int); INSERT INTO campaigns VALUES (7);");
        Flyway application = Flyway.configure()
                .dataSource(dataSource)
                .schemas(schema)
                .locations("filesystem:" + migrations)
                .load();
        application.migrate();
        String historyOfTheApplication = "SELECT xmin || script FROM " + schema
                + ".flyway_schema_history WHERE type = 'SQL' ORDER BY installed_rank";
        List<String> history = query(dataSource, historyOfTheApplication);

        Schema.migrate(dataSource, schema);

        assertCurrent(schema);
        assertThat(query(dataSource, "SELECT id FROM " + schema + ".campaigns")).containsExactly("7");
        assertThat(query(dataSource, historyOfTheApplication)).hasSize(1).isEqualTo(history);
        Files.writeString(migrations.resolve("V2__players.sql"), "CREATE TABLE players (id int);");
        assertThat(application.migrate().migrationsExecuted).isEqualTo(1);
        assertCurrent(schema);
    }

    @Test
    void aTableOfTheApplicationWithTheSameNameIsSaidAndNothingIsChanged() {
        execute(dataSource, "CREATE SCHEMA " + schema, "CREATE TABLE " + schema + ".rate_limit_penalties (mine text)");

        for (int start = 1; start <= 2; start++) {
            assertThatThrownBy(() -> Schema.migrate(dataSource, schema))
                    .isInstanceOf(SchemaException.class)
                    .hasMessageStartingWith("the PostgreSQL schema " + schema + " could not be migrated: ")
                    .hasMessageContaining("relation \"rate_limit_penalties\" already exists");
            assertThat(tables(schema)).containsExactly("rate_limit_penalties");
        }
    }

    @Test
    void theSearchPathOfPooledConnectionsIsLeftAsItWas() {
        List<String> before = query(dataSource, "SHOW search_path");

        Schema.migrate(dataSource, schema);

        for (int connection = 0; connection < 20; connection++) {
            assertThat(query(dataSource, "SHOW search_path")).isEqualTo(before);
        }
    }

    @Test
    void aDatabaseThatCannotHoldEverySubjectIsRefused() throws SQLException {
        String name = "latin_" + schema;
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name + " ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
        }
        PGSimpleDataSource latin = new PGSimpleDataSource();
        latin.setUrl(TestPostgres.instance().jdbcUrl());
        latin.setDatabaseName(name);

        assertThatThrownBy(() -> Schema.migrate(latin, "public"))
                .isInstanceOf(UnsupportedDatabaseException.class)
                .hasMessage("unsupported database encoding LATIN1;" + " use a database with encoding UTF8");
    }
}
