package dev.ratelimit.schema;

import static dev.ratelimit.schema.Migrations.atOnce;
import static dev.ratelimit.schema.Migrations.execute;
import static dev.ratelimit.schema.Migrations.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

class SqliteSchemaTest {

    private static final String DIALECT = "sqlite";

    @TempDir
    private Path folder;

    private SqliteFile file;
    private DataSource dataSource;

    @BeforeEach
    void chooseFile() {
        file = SqliteFile.at(folder.resolve("ratelimit.db"));
        SQLiteDataSource ofTheApplication = new SQLiteDataSource(); // which makes the file, unlike ours
        ofTheApplication.setUrl("jdbc:sqlite:" + file.path());
        dataSource = ofTheApplication;
    }

    private List<String> tables() {
        return query(dataSource, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    }

    private List<String> appliedVersions() {
        return query(dataSource, "SELECT version FROM ratelimit_schema_history ORDER BY version");
    }

    private void assertCurrent() {
        assertThat(tables()).contains("rate_limits", "rate_limit_penalties", "ratelimit_schema_history");
        assertThat(appliedVersions()).isEqualTo(Migrations.known(DIALECT));
    }

    private List<String> contents() {
        return query(dataSource, """
                SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema
                UNION ALL SELECT 'history ' || version || script || applied_at FROM ratelimit_schema_history
                """);
    }

    @Test
    void aFreshFileGetsTheTables() {
        Schema.migrate(file);

        assertCurrent();
        assertThat(query(dataSource, "PRAGMA journal_mode")).containsExactly("wal");
        assertThat(query(dataSource, "PRAGMA integrity_check")).containsExactly("ok");
    }

    @Test
    void aCurrentSchemaIsLeftAsItIs() throws IOException {
        Schema.migrate(file);
        List<String> before = contents();
        List<String> version = query(dataSource, "PRAGMA schema_version");
        byte[] bytes = Files.readAllBytes(file.path());

        Schema.migrate(file);

        assertThat(contents()).isEqualTo(before);
        assertThat(query(dataSource, "PRAGMA schema_version")).isEqualTo(version);
        assertThat(Files.readAllBytes(file.path())).isEqualTo(bytes);
    }

    @Test
    void anOlderSchemaIsMigrated() {
        Schema.migrate(file);
        execute(dataSource, "INSERT INTO user_quotas (user_id, tier) VALUES ('alice', 'premium')");

        new SqliteSchema(file, Migrations.withNext(DIALECT, "V2__sqlite.sql")).migrate();

        assertThat(appliedVersions()).containsExactly("1", "2");
        assertThat(query(dataSource, "SELECT tier FROM user_quotas")).containsExactly("premium");
        assertThat(query(dataSource, "SELECT name FROM pragma_table_info('rate_limits')"))
                .contains("note");
    }

    @Test
    void aMigrationThatFailsChangesNothing() {
        Schema.migrate(file);
        List<String> before = contents();

        assertThatThrownBy(() -> new SqliteSchema(file, Migrations.withNext(DIALECT, "V2__sqlite_fails.sql")).migrate())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("no such table: nowhere");

        assertThat(contents()).isEqualTo(before);
        Schema.migrate(file);
        assertCurrent();
    }

    @Test
    void withoutTheRightToMigrateAMissingFileIsNotCreated() {
        assertThatThrownBy(() -> Schema.require(file))
                .isInstanceOf(SchemaException.class)
                .hasMessage("the SQLite file " + file.path() + " does not exist");
        assertThat(file.path()).doesNotExist();
    }

    @Test
    void withoutTheRightToMigrateMissingAndOlderTablesAreSaid() {
        execute(dataSource, "CREATE TABLE campaigns (id INTEGER)");
        assertThatThrownBy(() -> Schema.require(file))
                .isInstanceOf(SchemaException.class)
                .hasMessage("the SQLite file " + file.path() + " has no tables of rate limits; run"
                        + " dev/ratelimit/schema/sqlite/V1__rate_limits.sql of the ratelimit-core jar");
        Schema.migrate(file);
        Schema.require(file);

        assertThatThrownBy(() -> new SqliteSchema(file, Migrations.withNext(DIALECT, "V2__sqlite.sql")).require())
                .isInstanceOf(SchemaException.class)
                .hasMessage("the SQLite file " + file.path()
                        + " is at version 1; run dev/ratelimit/schema/next/V2__sqlite.sql of the ratelimit-core jar");
    }

    @Test
    void anEmptyFileIsMigrated() throws IOException {
        Files.createFile(file.path());

        Schema.migrate(file);

        assertCurrent();
    }

    @Test
    void threadsThatStartAtOnceMigrateOnce() throws Exception {
        atOnce(6, () -> Schema.migrate(SqliteFile.at(file.path())));

        assertCurrent();
    }

    @Test
    void processesThatStartAtOnceMigrateOnce() throws Exception {
        List<Process> processes = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                processes.add(startProcess());
            }
            List<BufferedReader> outputs = new ArrayList<>();
            for (Process process : processes) {
                BufferedReader output = process.inputReader();
                assertThat(output.readLine()).isEqualTo("ready");
                outputs.add(output);
            }
            for (Process process : processes) {
                try (OutputStream input = process.getOutputStream()) {
                    input.write('\n');
                }
            }
            for (int i = 0; i < processes.size(); i++) {
                assertThat(outputs.get(i).lines()).contains("migrated");
                assertThat(processes.get(i).waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(processes.get(i).exitValue()).isZero();
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
        }

        assertCurrent();
    }

    private Process startProcess() throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of(
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                MigratingProcess.class.getName()));
        command.add(file.path().toString());
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    @Test
    void aNewerSchemaIsRefusedAndLeftAsItIs() throws IOException {
        Schema.migrate(file);
        insertHistory(998);
        insertHistory(999);
        byte[] bytes = Files.readAllBytes(file.path());

        assertThatThrownBy(() -> Schema.migrate(file))
                .isInstanceOf(SchemaException.class)
                .hasMessage("the SQLite file " + file.path() + " is at version 999, but this library supports"
                        + " versions up to " + Migrations.newest(DIALECT) + "; upgrade the library");
        assertThat(Files.readAllBytes(file.path())).isEqualTo(bytes);
    }

    private void insertHistory(int version) {
        execute(
                dataSource,
                "INSERT INTO ratelimit_schema_history (version, script) VALUES (" + version + ", 'V" + version
                        + "__from_the_future.sql')");
    }

    @Test
    void theApplicationsTablesAndMigrationsAreLeftAlone() throws IOException {
        Path migrations = Files.createDirectory(folder.resolve("migrations"));
        Files.writeString(
                migrations.resolve("V1__campaigns.sql"),
                "CREATE TABLE campaigns (id INTEGER); INSERT INTO campaigns VALUES (7);");
        Flyway application = Flyway.configure()
                .dataSource(dataSource)
                .locations("filesystem:" + migrations)
                .load();
        application.migrate();
        List<String> history = query(dataSource, "SELECT script || installed_on FROM flyway_schema_history");

        Schema.migrate(file);

        assertCurrent();
        assertThat(query(dataSource, "SELECT id FROM campaigns")).containsExactly("7");
        assertThat(query(dataSource, "SELECT script || installed_on FROM flyway_schema_history"))
                .hasSize(1)
                .isEqualTo(history);
        Files.writeString(migrations.resolve("V2__players.sql"), "CREATE TABLE players (id INTEGER);");
        assertThat(application.migrate().migrationsExecuted).isEqualTo(1);
        assertCurrent();
    }

    @Test
    void aTableOfTheApplicationWithTheSameNameIsSaidAndNothingIsChanged() {
        execute(dataSource, "CREATE TABLE rate_limit_penalties (mine TEXT)");

        for (int start = 1; start <= 2; start++) {
            assertThatThrownBy(() -> Schema.migrate(file))
                    .isInstanceOf(SchemaException.class)
                    .hasMessageStartingWith("the SQLite file " + file.path() + " could not be migrated: ")
                    .hasMessageContaining("table rate_limit_penalties already exists");
            assertThat(tables()).doesNotContain("rate_limits");
            assertThat(query(dataSource, "SELECT name FROM pragma_table_info('rate_limit_penalties')"))
                    .containsExactly("mine");
        }
    }

    @Test
    void aDataSourceOfSqliteIsRefusedAsPostgres() {
        assertThatThrownBy(() -> Schema.migrate(dataSource, "public"))
                .isInstanceOf(UnsupportedDatabaseException.class)
                .hasMessage("the data source for rate limits leads to SQLite;"
                        + " use PostgreSQL, or pass the path of the file instead (SqliteFile.at)");
    }
}
