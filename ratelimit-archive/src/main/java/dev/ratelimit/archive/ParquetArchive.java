package dev.ratelimit.archive;

import dev.ratelimit.audit.retention.ArchiveException;
import dev.ratelimit.audit.retention.AuditArchive;
import dev.ratelimit.audit.retention.AuditRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Archives below a folder, one for each month: {@code 2026/11/audit_logs.parquet} with {@code 2026/11/manifest.json}. The folder
 * may be of any file system of {@code java.nio.file}.
 *
 * <p>To write an archive:
 *
 * <ol>
 *   <li>The rows are exported to a file with a temporary name.
 *   <li>The file is read again, and each row is compared.
 *   <li>The manifest is written under a temporary name. It has the checksum of the file. Both are on the disk now.
 *   <li>The file is renamed, then the manifest.
 * </ol>
 *
 * A manifest with a temporary name says that its file is complete. If a run ends after the third step, the next one renames what is
 * left. If it ends earlier, the temporary files are deleted, and the month is exported again.
 */
public final class ParquetArchive implements AuditArchive {

    private static final Logger log = LoggerFactory.getLogger(ParquetArchive.class);

    /** The stages after which tests let a run end. */
    enum Stage {
        BEGUN,
        EXPORTED,
        COMPARED,
        DESCRIBED,
        FILE_RENAMED,
        COMPLETE
    }

    private final Path root;
    private final InstantSource clock;
    private final String createdBy;
    private final Consumer<Stage> progress;

    /** The months whose manifest cannot be read: each is told once. */
    private final Set<YearMonth> warned = ConcurrentHashMap.newKeySet();

    ParquetArchive(Path root, InstantSource clock, String createdBy, Consumer<Stage> progress) {
        this.root = root;
        this.clock = clock;
        this.createdBy = createdBy;
        this.progress = progress;
    }

    /** The archives below a folder, to read them. */
    public static ParquetArchive at(Path root) {
        return at(root, InstantSource.system(), "unknown");
    }

    /**
     * The archives below a folder, which is created when the first archive is written.
     *
     * @param createdBy the name of this instance, for manifests
     */
    public static ParquetArchive at(Path root, InstantSource clock, String createdBy) {
        return new ParquetArchive(root, clock, createdBy, step -> {});
    }

    /** Why no archive can be written, or {@code null}. Changes nothing, and an archive may still fail. */
    @Nullable
    String problemOfWriting() {
        Path existing = root;
        while (existing != null && !Files.exists(existing)) {
            existing = existing.getParent();
        }
        if (existing == null || (Files.isDirectory(existing) && Files.isWritable(existing))) {
            return null;
        }
        return Files.isDirectory(existing) ? "this user may not write to " + existing : existing + " is not a folder";
    }

    @Override
    public List<Month> months() {
        try {
            List<Month> complete = new ArrayList<>();
            for (YearMonth month : MonthFolder.months(root)) {
                Manifest manifest = manifestOrNull(MonthFolder.of(root, month).manifest());
                if (manifest != null && manifest.month().equals(month)) {
                    complete.add(new Month(month, manifest.rows(), files(MonthFolder.of(root, month))));
                } else if (Files.exists(MonthFolder.of(root, month).manifest()) && warned.add(month)) {
                    log.warn(
                            "Keeping the archive of {} for good, since {} is not its manifest; restore that file, or delete the"
                                    + " folder yourself when its time is over",
                            month,
                            MonthFolder.of(root, month).manifest());
                }
            }
            return complete;
        } catch (IOException e) {
            throw new ArchiveException(
                    "could not list the archives in " + root + " (" + e + "); let this user read it", e);
        }
    }

    private static List<Path> files(MonthFolder folder) {
        return List.of(folder.data(), folder.manifest());
    }

    /** Also if it has a manifest only, or none: {@link #read} refuses it. */
    @Override
    public boolean has(YearMonth month) {
        MonthFolder folder = MonthFolder.of(root, month);
        try {
            finish(folder);
            return Files.exists(folder.data()) || Files.exists(folder.manifest());
        } catch (IOException e) {
            throw new ArchiveException(
                    "could not look for the archive of " + month + " in " + folder.path() + " (" + e
                            + "); let this user read and write the folder",
                    e);
        }
    }

    /** Renames what a run has left under temporary names, or deletes it. */
    private static void finish(MonthFolder folder) throws IOException {
        for (MonthFolder.Unfinished left : folder.unfinished()) {
            Manifest manifest = manifestOrNull(left.manifest());
            if (manifest != null && isFileOf(manifest, left.data())) {
                MonthFolder.move(left.data(), folder.data());
            }
            if (manifest != null && isFileOf(manifest, folder.data())) {
                MonthFolder.move(left.manifest(), folder.manifest());
                log.info("Completed {}, which an earlier run had written", folder.data());
            }
            left.delete();
            folder.forceNames();
        }
    }

    private static boolean isFileOf(Manifest manifest, Path data) throws IOException {
        return Files.exists(data) && MonthFolder.sha256(data).equals(manifest.sha256());
    }

    private static @Nullable Manifest manifestOrNull(Path file) throws IOException {
        if (Files.notExists(file)) {
            return null;
        }
        try {
            return Manifest.parse(Files.readString(file), file);
        } catch (ArchiveException e) {
            return null;
        }
    }

    @Override
    public AuditRows read(YearMonth month) {
        MonthFolder folder = MonthFolder.of(root, month);
        try {
            requireIntact(month, folder);
            return new ParquetFile(folder.data()).read();
        } catch (IOException e) {
            throw new ArchiveException(
                    "could not read the archive of " + month + " in " + folder.path() + " (" + e
                            + "); let this user read the folder",
                    e);
        }
    }

    private static void requireIntact(YearMonth month, MonthFolder folder) throws IOException {
        for (Path file : files(folder)) {
            if (Files.notExists(file)) {
                throw unusable(month, file + " is missing");
            }
        }
        Manifest manifest = Manifest.parse(Files.readString(folder.manifest()), folder.manifest());
        if (!manifest.month().equals(month)) {
            throw unusable(month, folder.manifest() + " is of " + manifest.month());
        }
        if (manifest.schemaVersion() > Manifest.SCHEMA_VERSION) {
            throw new ArchiveException("the archive of " + month + " in " + folder.path() + " has version "
                    + manifest.schemaVersion() + ", but this library reads versions up to " + Manifest.SCHEMA_VERSION
                    + "; upgrade it");
        }
        String found = MonthFolder.sha256(folder.data());
        if (!found.equals(manifest.sha256())) {
            throw unusable(month, "the SHA-256 of " + folder.data() + " is " + found + ", not " + manifest.sha256());
        }
    }

    private static ArchiveException unusable(YearMonth month, String why) {
        return new ArchiveException("the archive of " + month + " cannot be trusted: " + why
                + "; restore its files from a copy, or move them away: then the rows that are still in the database are archived"
                + " again. Nothing is dropped before");
    }

    @Override
    public void write(YearMonth month, AuditRows.Source rows) {
        MonthFolder folder = MonthFolder.of(root, month);
        try {
            write(month, rows, folder);
        } catch (IOException | UncheckedIOException e) {
            throw new ArchiveException(
                    "could not write the archive of " + month + " to " + folder.path() + " (" + e
                            + "); make room there, and let this user write to it",
                    e);
        }
    }

    private void write(YearMonth month, AuditRows.Source rows, MonthFolder folder) throws IOException {
        finish(folder);
        MonthFolder.Unfinished files = folder.begin();
        progress.accept(Stage.BEGUN);
        try {
            export(month, rows, files);
        } catch (IOException | UncheckedIOException e) {
            // Half an archive would keep a full disk full until the next run.
            files.delete();
            throw e;
        }
        folder.forceNames();
        progress.accept(Stage.DESCRIBED);
        MonthFolder.move(files.data(), folder.data());
        progress.accept(Stage.FILE_RENAMED);
        MonthFolder.move(files.manifest(), folder.manifest());
        folder.forceNames();
        progress.accept(Stage.COMPLETE);
    }

    private void export(YearMonth month, AuditRows.Source rows, MonthFolder.Unfinished files) throws IOException {
        ParquetFile file = new ParquetFile(files.data());
        ParquetFile.Content content = file.write(rows);
        MonthFolder.force(files.data());
        progress.accept(Stage.EXPORTED);
        String difference = file.differenceTo(rows);
        if (difference != null) {
            files.delete();
            throw new ArchiveException(
                    "the archive of " + month + " was not equal to the database when it was read again: " + difference
                            + "; it is exported anew at the next run");
        }
        progress.accept(Stage.COMPARED);
        Manifest manifest = new Manifest(
                month,
                content.rows(),
                content.firstAt(),
                content.lastAt(),
                MonthFolder.sha256(files.data()),
                Manifest.SCHEMA_VERSION,
                clock.instant(),
                createdBy);
        Files.writeString(files.manifest(), manifest.toJson());
        MonthFolder.force(files.manifest());
    }

    /** The manifest last: without it, nobody would know that the rest is an archive. Other files in the folder stay. */
    @Override
    public void delete(YearMonth month) {
        MonthFolder folder = MonthFolder.of(root, month);
        try {
            Files.deleteIfExists(folder.data());
            for (MonthFolder.Unfinished left : folder.unfinished()) {
                left.delete();
            }
            Files.deleteIfExists(folder.manifest());
            folder.deleteIfEmpty();
        } catch (IOException e) {
            throw new ArchiveException(
                    "could not delete the archive of " + month + " in " + folder.path() + " (" + e
                            + "); let this user write to the folder",
                    e);
        }
    }

    @Override
    public String toString() {
        return root.toString();
    }
}
