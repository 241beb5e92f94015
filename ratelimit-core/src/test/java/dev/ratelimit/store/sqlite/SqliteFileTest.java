package dev.ratelimit.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.testing.SettableClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqliteFileTest {

    private static final Limit LIMIT = Limit.named("api")
            .algorithm(new FixedWindow(5, Duration.ofHours(1)))
            .build();

    private static final String NO_DATABASE = "; choose the path of an SQLite database that this process may write to,"
            + " or of a file that does not exist yet";

    @TempDir
    private Path folder;

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void onlyTheOwnerMayReadAndWriteTheFiles() throws IOException {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        Schema.migrate(file);
        TreeMap<String, String> rights = new TreeMap<>();
        try (SqliteLimitStore store = new SqliteLimitStore(file, new SettableClock())) {
            decide(store);
            try (Stream<Path> files = Files.list(folder)) {
                for (Path each : files.toList()) {
                    rights.put(
                            each.getFileName().toString(),
                            PosixFilePermissions.toString(Files.getPosixFilePermissions(each)));
                }
            }
        }

        assertThat(rights)
                .containsOnlyKeys("ratelimit.db", "ratelimit.db-shm", "ratelimit.db-wal", "ratelimit.db.lock")
                .allSatisfy((name, right) -> assertThat(right).as(name).isEqualTo("rw-------"));
    }

    private static void decide(SqliteLimitStore store) {
        try (StoreRateLimiter limiter =
                StoreRateLimiter.builder(store, Limits.of(LIMIT)).build()) {
            assertThat(limiter.decide(LimitRequest.of(Subject.user("alice"), "api"))
                            .remaining())
                    .isEqualTo(4);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "with blanks",
                "what?",
                "a?mode=ro&b",
                "100%",
                "%41",
                "#1",
                "a;b",
                "größe 名前",
                "'quoted'",
                "file:a"
            })
    void theFileIsWhereItWasAskedForWhateverTheFolderIsCalled(String name) throws IOException {
        Path path = Files.createDirectory(folder.resolve(name)).resolve("ratelimit.db");

        Schema.migrate(SqliteFile.at(path));
        try (SqliteLimitStore store = new SqliteLimitStore(SqliteFile.at(path), new SettableClock())) {
            decide(store);
        }

        assertThat(path).isNotEmptyFile();
        try (Stream<Path> all = Files.list(folder)) {
            assertThat(all).containsExactly(path.getParent());
        }
    }

    @Test
    void aPathInAFolderThatDoesNotExistIsSaid() {
        Path path = folder.resolve("missing").resolve("ratelimit.db");

        assertThatThrownBy(() -> Schema.migrate(SqliteFile.at(path)))
                .isInstanceOf(LimitStoreException.class)
                .hasMessage("the SQLite file " + path + " cannot be used (java.nio.file.NoSuchFileException: " + path
                        + ".lock); choose a path in a folder that exists and that this process may write to");
        assertThat(path.getParent()).doesNotExist();
    }

    @Test
    void aFolderInPlaceOfTheFileIsSaid() throws IOException {
        Path path = Files.createDirectory(folder.resolve("ratelimit.db"));

        assertThatThrownBy(() -> Schema.migrate(SqliteFile.at(path)))
                .isInstanceOf(LimitStoreException.class)
                .hasMessageStartingWith("the SQLite file " + path + " cannot be used (")
                .hasMessageContaining("SQLITE_CANTOPEN")
                .hasMessageEndingWith(NO_DATABASE);
    }

    @Test
    void aFileThatIsNoDatabaseIsSaidAndLeftAsItIs() throws IOException {
        Path path = folder.resolve("ratelimit.db");
        String text = "These are notes, not a database.\n".repeat(100);
        Files.writeString(path, text);

        assertThatThrownBy(() -> Schema.migrate(SqliteFile.at(path)))
                .isInstanceOf(LimitStoreException.class)
                .hasMessageStartingWith("the SQLite file " + path + " cannot be used (")
                .hasMessageContaining("SQLITE_NOTADB")
                .hasMessageEndingWith(NO_DATABASE);
        assertThat(path).hasContent(text);
    }

    @Test
    void aFileInAnotherJournalModeIsBroughtIntoWal() throws Exception {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file.path());
                var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE campaigns (id INTEGER)");
        }

        file.exclusively(file::prepare);

        try (var connection = file.dataSource().getConnection();
                var statement = connection.createStatement();
                var mode = statement.executeQuery("PRAGMA journal_mode")) {
            assertThat(mode.getString(1)).isEqualTo("wal");
        }
    }

    @Test
    void aNewFileHasSmallPages() throws Exception {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));

        Schema.migrate(file);

        try (var connection = file.dataSource().getConnection();
                var statement = connection.createStatement();
                var size = statement.executeQuery("PRAGMA page_size")) {
            assertThat(size.getInt(1)).isEqualTo(2_048);
        }
    }

    @Test
    void nobodyButTheMigrationMakesAFile() {
        SqliteFile file = SqliteFile.at(folder.resolve("missing.db"));
        try (SqliteLimitStore store = new SqliteLimitStore(file)) {
            assertThatThrownBy(() -> store.prune(0)).isInstanceOf(LimitStoreException.class);
        }
        assertThat(file.path()).doesNotExist();
    }

    /** Were it set later, what the driver asks first would fail beside a process that recovers or checkpoints. */
    @Test
    void everyConnectionWaitsForOthersFromItsFirstStatementOn() throws Exception {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db")).busyTimeout(Duration.ofSeconds(20));
        file.exclusively(file::prepare);
        try (var holder = DriverManager.getConnection("jdbc:sqlite:" + file.path());
                var hold = holder.createStatement()) {
            hold.execute("PRAGMA locking_mode = EXCLUSIVE");
            hold.execute("BEGIN EXCLUSIVE");
            hold.execute("CREATE TABLE held (id INTEGER)");
            CompletableFuture<Integer> opened = CompletableFuture.supplyAsync(() -> {
                try (var connection = file.dataSource().getConnection();
                        var statement = connection.createStatement();
                        var row = statement.executeQuery("SELECT count(*) FROM sqlite_schema")) {
                    return row.getInt(1);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThatThrownBy(() -> opened.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            hold.execute("COMMIT");
            holder.close();
            assertThat(opened.get(20, TimeUnit.SECONDS)).isEqualTo(1);
        }
    }
}
