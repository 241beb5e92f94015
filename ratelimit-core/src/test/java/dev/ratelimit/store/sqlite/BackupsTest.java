package dev.ratelimit.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.sqlite.Backups.Backup;
import dev.ratelimit.testing.SettableClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backups in a folder. */
class BackupsTest {

    private static final Instant NOW = Instant.parse("2026-07-31T03:12:22.123456Z");

    private final SettableClock clock = new SettableClock();

    @TempDir
    private Path folder;

    private SqliteFile counts;
    private SqliteFile audit;
    private Path directory;
    private Backups backups;

    @BeforeEach
    void create() {
        clock.set(NOW);
        counts = SqliteFile.at(folder.resolve("ratelimit.db"));
        audit = SqliteFile.at(folder.resolve("ratelimit-audit.db"));
        Schema.migrate(counts);
        audit.exclusively(audit::prepare);
        directory = folder.resolve("backups");
        backups = new Backups(directory, List.of(counts, audit), clock);
    }

    @Test
    void eachFileIsCopiedUnderTheTime() {
        List<Backup> made = backups.create();

        assertThat(made)
                .extracting(Backup::name)
                .containsExactly("ratelimit-20260731T031222.123Z.db", "ratelimit-audit-20260731T031222.123Z.db");
        assertThat(made).extracting(Backup::of).containsExactly("ratelimit", "ratelimit-audit");
        assertThat(made).extracting(Backup::at).containsOnly(Instant.parse("2026-07-31T03:12:22.123Z"));
        assertThat(made)
                .allSatisfy(backup -> assertThat(directory.resolve(backup.name()))
                        .isRegularFile()
                        .hasSize(backup.bytes()));
    }

    @Test
    void listHasTheNewestFirstAndNothingElse() throws IOException {
        List<Backup> first = backups.create();
        clock.move(Duration.ofHours(1));
        List<Backup> second = backups.create();
        Files.createFile(directory.resolve("ratelimit-20260731T031222.123Z.db.part"));
        Files.createFile(directory.resolve("other-20260731T031222.123Z.db"));
        Files.createFile(directory.resolve("ratelimit-20269931T031222.123Z.db"));
        Files.createDirectory(directory.resolve("ratelimit-20260731T031222.124Z.db"));

        assertThat(backups.list())
                .containsExactlyInAnyOrder(first.get(0), first.get(1), second.get(0), second.get(1))
                .first()
                .extracting(Backup::at)
                .isEqualTo(second.get(0).at());
    }

    @Test
    void nothingIsListedBeforeTheFirst() {
        assertThat(backups.list()).isEmpty();
        assertThat(directory).doesNotExist();
    }

    @Test
    void secondBackupOfTheSameMomentIsRefused() {
        backups.create();

        assertThatThrownBy(backups::create)
                .isInstanceOf(LimitStoreException.class)
                .hasMessageEndingWith("; choose the name of a file that does not exist");
    }

    @Test
    void missingDirectoryNamesTheProperty() {
        Backups nowhere = new Backups(null, List.of(counts), clock);

        assertThat(nowhere.list()).isEmpty();
        assertThat(nowhere.directory()).isEmpty();
        assertThatThrownBy(nowhere::create)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("ratelimit.backup.directory is missing; write the path of a folder for backups,"
                        + " on another disk than " + counts.path());
    }

    @Test
    void otherStoresNameTheGuide() {
        assertThatThrownBy(new Backups(directory, List.of(), clock)::create)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("docs/recovery.md");
    }

    @Test
    void fileInTheWayOfTheDirectoryIsNamed() throws IOException {
        Files.createFile(directory);

        assertThatThrownBy(backups::create)
                .isInstanceOf(LimitStoreException.class)
                .hasMessageContaining("the folder " + directory + " of ratelimit.backup.directory cannot be created");
        assertThatThrownBy(backups::list)
                .isInstanceOf(LimitStoreException.class)
                .hasMessageContaining("the folder " + directory + " of ratelimit.backup.directory cannot be read");
    }

    @Test
    void filesOfTheSameNameAreRefused() {
        List<SqliteFile> same =
                List.of(counts, SqliteFile.at(folder.resolve("other").resolve("ratelimit.sqlite")));

        assertThatThrownBy(() -> new Backups(directory, same, clock)).hasMessageContaining("must differ");
    }
}
