package dev.ratelimit.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.ratelimit.archive.ParquetArchive.Stage;
import dev.ratelimit.archive.TestTrail.Kind;
import dev.ratelimit.audit.retention.ArchiveException;
import dev.ratelimit.audit.retention.AuditArchive;
import dev.ratelimit.audit.retention.AuditRow;
import dev.ratelimit.audit.retention.AuditRows;
import dev.ratelimit.audit.retention.RetainedRows;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.audit.retention.RetentionReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Archives of a real audit trail: what they hold, and what is left if a run ends early. */
@ExtendWith(OutputCaptureExtension.class)
class ParquetArchiveTest {

    private static final YearMonth MONTH = YearMonth.of(2025, 12);
    private static final Instant IN_MONTH = Instant.parse("2025-12-17T12:34:56.789012Z");

    /** When December is dropped, and a day later. */
    private static final Instant NOW = Instant.parse("2026-04-02T00:00:00Z");

    /** Refuses every byte, as a full disk does. */
    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    Path folder;

    private Path root() {
        return folder.resolve("archive");
    }

    private Path data() {
        return root().resolve("2025/12/audit_logs.parquet");
    }

    private Path manifest() {
        return root().resolve("2025/12/manifest.json");
    }

    private ParquetArchive archive(Consumer<Stage> progress) {
        return new ParquetArchive(root(), InstantSource.fixed(NOW), "server-1", progress);
    }

    private ParquetArchive archive() {
        return archive(step -> {});
    }

    private static List<AuditRow> rows(int count) {
        List<AuditRow> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(TestTrail.row(IN_MONTH.plusNanos(i / 3 * 1_000L), i));
        }
        rows.sort(AuditRow.BY_KEY);
        return rows;
    }

    private static List<AuditRow> read(AuditArchive archive, YearMonth month) {
        List<AuditRow> rows = new ArrayList<>();
        try (AuditRows archived = archive.read(month)) {
            archived.forEachRemaining(rows::add);
        }
        return rows;
    }

    private static AuditRows.Source of(List<AuditRow> rows) {
        return () -> {
            var iterator = rows.iterator();
            return new AuditRows() {
                @Override
                public boolean hasNext() {
                    return iterator.hasNext();
                }

                @Override
                public AuditRow next() {
                    return iterator.next();
                }
            };
        };
    }

    private static RetentionReport run(TestTrail trail, AuditArchive archive) {
        try (Retention retention = trail.retention(archive, InstantSource.fixed(NOW))) {
            return retention.run();
        }
    }

    private static boolean droppedAudit(RetentionReport report) {
        return report.dropped().stream().anyMatch(drop -> drop.rows() == RetainedRows.AUDIT);
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.walk(root())) {
            return files.filter(Files::isRegularFile)
                    .map(file -> root().relativize(file).toString().replace('\\', '/'))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void archiveEqualsTheDroppedRows(Kind kind) throws IOException {
        TestTrail trail = TestTrail.create(kind, folder);
        List<AuditRow> rows = rows(5_000);
        trail.add(rows);

        RetentionReport report = run(trail, archive());

        assertThat(report.failures()).isEmpty();
        assertThat(trail.size()).isZero();
        assertThat(files()).containsExactly("2025/12/audit_logs.parquet", "2025/12/manifest.json");
        assertThat(read(archive(), MONTH)).isEqualTo(rows);
        assertThat(Manifest.parse(Files.readString(manifest()), "manifest"))
                .isEqualTo(new Manifest(
                        MONTH,
                        5_000,
                        IN_MONTH,
                        rows.get(4_999).loggedAt(),
                        MonthFolder.sha256(data()),
                        1,
                        NOW,
                        "server-1"));
        assertThat(archive().months())
                .containsExactly(new AuditArchive.Month(MONTH, 5_000, List.of(data(), manifest())));
    }

    static Stream<Arguments> kindsAndSteps() {
        return EnumSet.allOf(Kind.class).stream()
                .flatMap(kind -> EnumSet.allOf(Stage.class).stream().map(step -> Arguments.of(kind, step)));
    }

    /** The process dies after the step: nothing that would come afterwards is done. */
    @ParameterizedTest
    @MethodSource("kindsAndSteps")
    void crashLosesNothingAndExportsNothingTwice(Kind kind, Stage fatal) throws IOException {
        TestTrail trail = TestTrail.create(kind, folder);
        List<AuditRow> rows = rows(7);
        trail.add(rows);
        RetentionReport crashed = run(trail, archive(step -> {
            if (step == fatal) {
                throw new IllegalStateException("crash");
            }
        }));
        assertThat(crashed.failures()).singleElement().asString().contains("2025-12", "crash");
        assertThat(droppedAudit(crashed)).isFalse();
        assertThat(trail.size()).isEqualTo(7);

        List<Stage> steps = new ArrayList<>();
        RetentionReport next = run(trail, archive(steps::add));

        assertThat(next.failures()).isEmpty();
        assertThat(droppedAudit(next)).isTrue();
        assertThat(trail.size()).isZero();
        assertThat(read(archive(), MONTH)).isEqualTo(rows);
        assertThat(files()).containsExactly("2025/12/audit_logs.parquet", "2025/12/manifest.json");
        boolean wasComplete = fatal.compareTo(Stage.DESCRIBED) >= 0;
        assertThat(steps.contains(Stage.EXPORTED)).as("exported again").isEqualTo(!wasComplete);
    }

    /** The old archive has rows that are nowhere else. */
    @ParameterizedTest
    @EnumSource(Stage.class)
    void crashWhileLateRowsAreAddedKeepsTheOldArchive(Stage fatal) {
        TestTrail trail = TestTrail.create(Kind.SQLITE, folder);
        List<AuditRow> rows = rows(7);
        trail.add(rows.subList(0, 6));
        run(trail, archive());
        trail.add(rows.subList(6, 7));

        run(trail, archive(step -> {
            if (step == fatal) {
                throw new IllegalStateException("crash");
            }
        }));
        assertThat(trail.size()).isEqualTo(1);
        assertThat(run(trail, archive()).failures()).isEmpty();

        assertThat(trail.size()).isZero();
        assertThat(read(archive(), MONTH)).isEqualTo(rows);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void flippedByteStopsTheDrop(Kind kind) throws IOException {
        TestTrail trail = TestTrail.create(kind, folder);
        trail.add(rows(7));
        archive().write(MONTH, of(rows(7)));
        byte[] bytes = Files.readAllBytes(data());
        bytes[bytes.length / 2] ^= 1;
        Files.write(data(), bytes);

        RetentionReport report = run(trail, archive());

        assertThat(report.failures())
                .singleElement()
                .asString()
                .contains(
                        "the archive of 2025-12 cannot be trusted",
                        "the SHA-256 of " + data(),
                        "restore its files from a copy, or move them away");
        assertThat(trail.size()).isEqualTo(7);
        assertThat(Files.readAllBytes(data())).isEqualTo(bytes);

        Files.delete(data());
        Files.delete(manifest());
        assertThat(run(trail, archive()).failures()).isEmpty();
        assertThat(trail.size()).isZero();
    }

    @Test
    void archiveWithoutManifestStopsTheDrop() throws IOException {
        TestTrail trail = TestTrail.create(Kind.SQLITE, folder);
        List<AuditRow> rows = rows(3);
        trail.add(rows);
        archive().write(MONTH, of(rows));
        Files.delete(manifest());

        assertThat(run(trail, archive()).failures()).singleElement().asString().contains(manifest() + " is missing");
        assertThat(trail.size()).isEqualTo(3);
        assertThat(archive().months()).isEmpty();
    }

    @Test
    void archiveOfANewerVersionIsNotRead() throws IOException {
        archive().write(MONTH, of(rows(1)));
        Files.writeString(
                manifest(), Files.readString(manifest()).replace("\"schema_version\": 1", "\"schema_version\": 2"));

        assertThatThrownBy(() -> archive().read(MONTH))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("has version 2", "upgrade it");
    }

    @Test
    void brokenManifestIsNamed() throws IOException {
        archive().write(MONTH, of(rows(1)));
        Files.writeString(manifest(), "{\"month\": \"2025-12\"}");

        assertThatThrownBy(() -> archive().read(MONTH))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining(manifest() + " is not a manifest ('rows' is missing)");
    }

    @Test
    void brokenManifestIsNamedOnceSinceItsArchiveNeverEnds(CapturedOutput output) throws IOException {
        ParquetArchive archive = archive();
        archive.write(MONTH, of(rows(1)));
        Files.writeString(manifest(), "{\"month\": \"2025-12\"}");

        assertThat(archive.months()).isEmpty();
        assertThat(archive.months()).isEmpty();

        assertThat(output.getAll().lines())
                .filteredOn(line -> line.contains("Keeping the archive of 2025-12 for good, since " + manifest()))
                .hasSize(1);
    }

    @Test
    void fileThatIsNotEqualWhenReadAgainIsNotPutInPlace() throws IOException {
        List<List<AuditRow>> versions = new ArrayList<>(List.of(rows(3), rows(4)));

        assertThatThrownBy(() ->
                        archive().write(MONTH, () -> of(versions.remove(0)).open()))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("was not equal to the database when it was read again");
        assertThat(files()).isEmpty();
    }

    /** The file of the archive leads to a device that is always full. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    @EnabledIf(value = "hasFullDevice", disabledReason = "this system has no /dev/full")
    void fullDiskKeepsTheMonthAndLeavesNoHalfArchive(Kind kind) throws IOException {
        TestTrail trail = TestTrail.create(kind, folder);
        List<AuditRow> rows = rows(7);
        trail.add(rows);

        RetentionReport full = run(trail, archive(step -> {
            if (step == Stage.BEGUN) {
                redirectToFullDevice();
            }
        }));

        assertThat(full.failures())
                .singleElement()
                .asString()
                .contains("could not write the archive of 2025-12 to " + data().getParent(), "make room there");
        assertThat(droppedAudit(full)).isFalse();
        assertThat(trail.size()).isEqualTo(7);
        assertThat(data().getParent()).isEmptyDirectory();

        assertThat(run(trail, archive()).failures()).isEmpty();
        assertThat(read(archive(), MONTH)).isEqualTo(rows);
        assertThat(trail.size()).isZero();
    }

    static boolean hasFullDevice() {
        return Files.exists(FULL);
    }

    private void redirectToFullDevice() {
        try (Stream<Path> files = Files.list(data().getParent())) {
            Path unfinished = files.filter(file -> file.getFileName().toString().startsWith("audit_logs."))
                    .findFirst()
                    .orElseThrow();
            Files.delete(unfinished);
            Files.createSymbolicLink(unfinished, FULL);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Rights say nothing to a superuser, who may run the tests: a file is in the way of the folder. */
    @Test
    void folderThatCannotBeWrittenKeepsTheMonth() throws IOException {
        TestTrail trail = TestTrail.create(Kind.SQLITE, folder);
        trail.add(rows(7));
        Files.writeString(root(), "a file");

        RetentionReport report = run(trail, archive());

        assertThat(report.failures())
                .singleElement()
                .asString()
                .contains("could not write the archive of 2025-12", root() + "", "let this user write to it");
        assertThat(trail.size()).isEqualTo(7);
    }

    @Test
    void onlyTheOwnerMayReadArchives() throws IOException {
        archive().write(MONTH, of(rows(1)));

        for (Path file : List.of(data(), manifest())) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        }
    }

    @Test
    void expiredArchivesAreDeletedWithTheirManifestsAndNothingElse() throws IOException {
        YearMonth old = YearMonth.of(2019, 2);
        YearMonth kept = YearMonth.of(2019, 4);
        AuditRow inOld = TestTrail.row(Instant.parse("2019-02-03T00:00:00Z"), 0);
        archive().write(old, of(List.of(inOld)));
        archive().write(kept, of(List.of(TestTrail.row(Instant.parse("2019-04-03T00:00:00Z"), 0))));
        Path mine = root().resolve("2019/02/notes.txt");
        Files.writeString(mine, "mine");
        Path foreign = Files.createDirectories(root().resolve("2001/01")).resolve("audit_logs.parquet");
        Files.writeString(foreign, "not ours: no manifest");
        TestTrail trail = TestTrail.create(Kind.SQLITE, folder);

        RetentionReport report = run(trail, archive());

        assertThat(report.deletedArchives()).containsExactly(old);
        assertThat(files())
                .containsExactly(
                        "2001/01/audit_logs.parquet",
                        "2019/02/notes.txt",
                        "2019/04/audit_logs.parquet",
                        "2019/04/manifest.json");

        archive().delete(kept);
        assertThat(root().resolve("2019/04")).doesNotExist();
    }

    /** Such as {@code s3:} URIs, for which applications bring a provider. */
    @Test
    void anotherFileSystemWorksAsWell() throws IOException {
        List<AuditRow> rows = rows(100);
        URI zip = URI.create("jar:" + folder.resolve("archives.zip").toUri());
        try (FileSystem other = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
            ParquetArchive archive = ParquetArchive.at(other.getPath("/audit"), InstantSource.fixed(NOW), "server-1");
            archive.write(MONTH, of(rows));
            archive.write(MONTH, of(rows));

            assertThat(read(archive, MONTH)).isEqualTo(rows);
            assertThat(archive.months())
                    .extracting(AuditArchive.Month::month, AuditArchive.Month::rows)
                    .containsExactly(tuple(MONTH, 100L));
            archive.delete(MONTH);
            assertThat(archive.months()).isEmpty();
            assertThat(other.getPath("/audit/2025")).doesNotExist();
        }
    }

    @Test
    void columnsAreThoseOfTheTable() {
        assertThat(Set.of(AuditRow.class.getRecordComponents()).stream()
                        .map(component ->
                                component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT)))
                .containsExactlyInAnyOrderElementsOf(TestTrail.create(Kind.SQLITE, folder)
                        .jdbc()
                        .queryForList("SELECT name FROM pragma_table_info('rate_limit_audit_logs')", String.class));
    }
}
