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
import dev.ratelimit.testing.Messages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A file that is deleted or replaced while it is in use. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows does not delete a file that is open")
class LostFileTest {

    private static final Limit CALLS = Limit.named("calls")
            .algorithm(new FixedWindow(1_000_000, Duration.ofDays(365)))
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

    /** The remaining permits in the new file: all but the one of the first decision there. */
    private static long awaitNewFile(LimitStore store) {
        long[] remaining = new long[1];
        Awaitility.await().ignoreException(LimitStoreException.class).until(() -> {
            remaining[0] = remaining(store);
            return remaining[0] == 999_999;
        });
        return remaining[0];
    }

    private void deleteAll(String... suffixes) throws IOException {
        for (String suffix : suffixes) {
            Files.deleteIfExists(folder.resolve("limits.db" + suffix));
        }
    }

    @Test
    void deletedFileIsSaidOnceAndCreatedAgain() throws IOException {
        try (Messages messages = new Messages();
                SqliteLimitStore store = new SqliteLimitStore(file.createdAgainBy(Schema::migrate))) {
            remaining(store);
            remaining(store);
            deleteAll("", "-wal", "-shm");
            assertThatDecisionFails(store);

            assertThat(awaitNewFile(store)).isEqualTo(999_999);
            assertThat(remaining(store)).isEqualTo(999_998);
            assertThat(file.path()).exists();
            assertThat(messages.all())
                    .filteredOn(line -> line.contains("SQLite file"))
                    .containsExactly(
                            "The SQLite file " + file.path()
                                    + " was deleted while in use. Counts start anew, and only limits, rules, quotas and API"
                                    + " keys in the new file apply; on-failure decides until it is ready",
                            "Keeping rate limits in the new SQLite file " + file.path());
        }
    }

    /** Until the next look at the file, decisions go to the deleted one. */
    private static void assertThatDecisionFails(LimitStore store) {
        Awaitility.await()
                .untilAsserted(() -> assertThatThrownBy(() -> remaining(store))
                        .isInstanceOf(LimitStoreException.class)
                        .hasMessageContaining("was deleted or replaced while in use"));
    }

    /** SQLite's own files of the deleted database stay behind, and another process still has them open. */
    @Test
    void instancesThatShareTheFileMeetInTheNewOne() throws IOException {
        try (SqliteLimitStore one = new SqliteLimitStore(file.createdAgainBy(Schema::migrate));
                SqliteLimitStore other = new SqliteLimitStore(file.createdAgainBy(Schema::migrate))) {
            remaining(one);
            remaining(other);
            deleteAll("");
            awaitNewFile(one);
            Awaitility.await().ignoreException(LimitStoreException.class).until(() -> remaining(other) >= 999_990);

            long before = remaining(one);
            assertThat(remaining(other)).isEqualTo(before - 1);
            assertThat(remaining(one)).isEqualTo(before - 2);
        }
    }

    @Test
    void replacedFileIsGoneOnWith() throws IOException {
        SqliteFile backup = SqliteFile.at(folder.resolve("backup.db"));
        Schema.migrate(backup);
        try (SqliteLimitStore elsewhere = new SqliteLimitStore(backup)) {
            for (int i = 0; i < 100; i++) {
                remaining(elsewhere);
            }
        }
        try (Messages messages = new Messages();
                SqliteLimitStore store = new SqliteLimitStore(file)) {
            remaining(store);
            deleteAll("-wal", "-shm");
            Files.move(backup.path(), file.path(), StandardCopyOption.REPLACE_EXISTING);

            Awaitility.await().ignoreException(LimitStoreException.class).until(() -> remaining(store) <= 999_899);
            assertThat(messages.all())
                    .anyMatch(line -> line.contains("was replaced, or deleted and created again, while in use"));
        }
    }

    @Test
    void fileThatCannotBeCreatedAgainIsTriedAgain() throws IOException {
        Path inner = Files.createDirectory(folder.resolve("volume"));
        SqliteFile onVolume = SqliteFile.at(inner.resolve("limits.db"));
        Schema.migrate(onVolume);
        try (Messages messages = new Messages();
                SqliteLimitStore store = new SqliteLimitStore(onVolume.createdAgainBy(Schema::migrate))) {
            remaining(store);
            deleteFolder(inner);
            Awaitility.await().until(() -> {
                assertFails(store);
                return !messages.warnings().isEmpty();
            });
            Files.createDirectory(inner);

            awaitNewFile(store);
            assertThat(messages.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("Could not create the SQLite file " + onVolume.path() + " again; trying again: ");
        }
    }

    private static void assertFails(LimitStore store) {
        try {
            remaining(store);
        } catch (LimitStoreException e) {
            return; // until the next look at the file, it may also succeed
        }
    }

    private static void deleteFolder(Path inner) throws IOException {
        try (Stream<Path> files = Files.list(inner)) {
            for (Path path : files.toList()) {
                Files.delete(path);
            }
        }
        Files.delete(inner);
    }

    @Test
    void policiesReadTheNewFile() throws Exception {
        SqliteFile watched = file.createdAgainBy(Schema::migrate);
        deleteAll("", "-wal", "-shm");

        try (var connection = watched.dataSource().getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT count(*) FROM rate_limit_configs")) {
            assertThat(rows.next()).isTrue();
        }
        assertThat(List.of(file.path())).allSatisfy(path -> assertThat(path).exists());
    }
}
