package dev.ratelimit.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation.Demand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Copies of a file that is in use. */
class SqliteBackupTest {

    private static final int MOST = 1_000;

    private static final Limit CALLS = Limit.named("calls")
            .algorithm(new FixedWindow(MOST, Duration.ofDays(3650)))
            .build();

    @TempDir
    private Path folder;

    private SqliteFile file;

    @BeforeEach
    void create() {
        file = SqliteFile.at(folder.resolve("limits.db"));
        Schema.migrate(file);
    }

    private static long remaining(LimitStore store) {
        return store.decide(new Demand(Subject.user("alice"), CALLS, 1)).first().remaining();
    }

    private static void decide(LimitStore store, int times) {
        for (int i = 0; i < times; i++) {
            remaining(store);
        }
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void backupHasTheDecisionsThatAreOnlyInTheLog() {
        Path copy = folder.resolve("copy.db");
        try (LimitStore store = new SqliteLimitStore(file)) {
            decide(store, 10);

            file.backupTo(copy);

            decide(store, 5);
        }
        SqliteFile restored = SqliteFile.at(copy);
        Schema.migrate(restored);
        try (LimitStore store = new SqliteLimitStore(restored)) {
            assertThat(remaining(store)).isEqualTo(MOST - 11);
        }
    }

    /** The reason for a backup: the same decisions are missing from a plain copy. */
    @Test
    void copyOfTheFileAloneMissesTheLog() throws IOException {
        Path copy = folder.resolve("copy.db");
        try (LimitStore store = new SqliteLimitStore(file)) {
            decide(store, 10);

            Files.copy(file.path(), copy);

            assertThat(Files.size(folder.resolve("limits.db-wal"))).isPositive();
        }
        SqliteFile restored = SqliteFile.at(copy);
        Schema.migrate(restored);
        try (LimitStore store = new SqliteLimitStore(restored)) {
            assertThat(remaining(store)).as("none of the ten is there").isEqualTo(MOST - 1);
        }
    }

    @Test
    void leavesNothingBesideTheCopy() throws IOException {
        file.backupTo(folder.resolve("copy.db"));

        assertThat(names()).contains("copy.db").noneMatch(name -> name.startsWith("copy.db") && name.length() > 7);
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has other rights")
    void onlyTheOwnerMayReadIt() throws IOException {
        Path copy = folder.resolve("copy.db");

        file.backupTo(copy);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy)))
                .isEqualTo("rw-------");
    }

    @Test
    void existingFileIsRefusedAndKept() throws IOException {
        Path copy = Files.writeString(folder.resolve("copy.db"), "precious");

        assertThatThrownBy(() -> file.backupTo(copy))
                .isInstanceOf(LimitStoreException.class)
                .hasMessage("could not back up " + file.path() + " to " + copy + " (" + copy
                        + "); choose the name of a file that does not exist");

        assertThat(copy).hasContent("precious");
        assertThat(names()).doesNotContain("copy.db.part");
    }

    @Test
    void backupUnderWayIsNotDisturbed() throws IOException {
        Path part = Files.createFile(folder.resolve("copy.db.part"));

        assertThatThrownBy(() -> file.backupTo(folder.resolve("copy.db")))
                .isInstanceOf(LimitStoreException.class)
                .hasMessageContaining("wait for the backup that is writing it, or delete it if there is none");

        assertThat(part).exists();
    }

    @Test
    void missingFolderIsNamed() {
        Path copy = folder.resolve("missing").resolve("copy.db");

        assertThatThrownBy(() -> file.backupTo(copy))
                .isInstanceOf(LimitStoreException.class)
                .hasMessageContaining(copy.toString())
                .hasMessageEndingWith("; choose a folder that exists and that this process may write to");
    }

    /** Nor is it created, even by a file that would be created again. */
    @Test
    void missingFileIsNotBackedUp() {
        SqliteFile missing = SqliteFile.at(folder.resolve("missing.db")).createdAgainBy(Schema::migrate);

        assertThatThrownBy(() -> missing.backupTo(folder.resolve("copy.db")))
                .isInstanceOf(LimitStoreException.class)
                .hasMessageContaining("there is no file " + missing.path());

        assertThat(missing.path()).doesNotExist();
    }

    @Test
    void damagedFileGivesNoBackup() throws IOException, SQLException {
        try (LimitStore store = new SqliteLimitStore(file)) {
            decide(store, 1);
        }
        try (Connection connection = file.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA wal_checkpoint(TRUNCATE)");
        }
        byte[] bytes = Files.readAllBytes(file.path());
        Arrays.fill(bytes, 4_096, bytes.length, (byte) 7);
        Files.write(file.path(), bytes);

        assertThatThrownBy(() -> file.backupTo(folder.resolve("copy.db")))
                .isInstanceOf(LimitStoreException.class)
                .hasMessageContaining("could not back up " + file.path());

        assertThat(names()).noneMatch(name -> name.startsWith("copy.db"));
    }

    /** A writer holds the write lock all the time: the backup neither waits for it nor sees its open transaction. */
    @Test
    void backupDoesNotWaitForAWriter() throws SQLException {
        try (LimitStore store = new SqliteLimitStore(file)) {
            decide(store, 10);
        }
        Path copy = folder.resolve("copy.db");
        try (Connection connection = file.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("BEGIN IMMEDIATE");
            statement.execute("DELETE FROM rate_limits");

            file.busyTimeout(Duration.ZERO).backupTo(copy);

            statement.execute("ROLLBACK");
        }
        try (LimitStore store = new SqliteLimitStore(SqliteFile.at(copy))) {
            assertThat(remaining(store)).isEqualTo(MOST - 11);
        }
    }
}
