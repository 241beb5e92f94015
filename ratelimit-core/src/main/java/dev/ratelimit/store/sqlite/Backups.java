package dev.ratelimit.store.sqlite;

import dev.ratelimit.store.LimitStoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Backups of SQLite files in one folder. The names of backups are made here, from the name of the file and the time. So a
 * caller from outside, such as an endpoint, cannot choose a path. Nothing is ever deleted or overwritten.
 */
public final class Backups {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss.SSS'Z'").withZone(ZoneOffset.UTC);

    private static final String END = ".db";

    private static final Pattern NAME = Pattern.compile("(.+)-([0-9]{8}T[0-9]{6}\\.[0-9]{3}Z)\\.db");

    private final @Nullable Path directory;
    private final List<SqliteFile> files;
    private final InstantSource clock;

    /**
     * A complete copy of a file.
     *
     * @param name the name of the copy, without its folder
     * @param of the name of the file that was copied, without its ending
     * @param at when the copy was begun
     * @param bytes its size
     */
    public record Backup(String name, String of, Instant at, long bytes) {}

    /**
     * @param directory the folder of the backups, which is created with the first one; {@code null} if none is configured
     * @param files the files to copy; empty if state is not kept in SQLite. Their names must differ
     * @param clock the time, for the names
     */
    public Backups(@Nullable Path directory, List<SqliteFile> files, InstantSource clock) {
        this.directory = directory == null ? null : directory.toAbsolutePath().normalize();
        this.files = List.copyOf(files);
        this.clock = clock;
        if (files.stream().map(Backups::baseName).distinct().count() < files.size()) {
            throw new IllegalArgumentException("the names of the files " + paths()
                    + " must differ without their endings, since backups are named after them");
        }
    }

    /** The folder of the backups; empty if none is configured. */
    public Optional<Path> directory() {
        return Optional.ofNullable(directory);
    }

    /** The files that are copied; empty if state is not kept in SQLite. */
    public List<Path> files() {
        return paths();
    }

    private List<Path> paths() {
        return files.stream().map(SqliteFile::path).toList();
    }

    /**
     * Copies each file. Files are copied one after the other, so their moments differ by as much as that takes. Decisions
     * do not wait.
     *
     * @return the copies, in the order of the files
     * @throws IllegalStateException if there is no file to copy, or no folder to write to
     * @throws LimitStoreException if a copy fails; earlier ones stay
     */
    public synchronized List<Backup> create() {
        if (files.isEmpty()) {
            throw new IllegalStateException(
                    "rate limits are not kept in an SQLite file, so there is nothing to copy here;"
                            + " back up PostgreSQL with its own tools, as docs/recovery.md describes");
        }
        Path folder = directory;
        if (folder == null) {
            throw new IllegalStateException(
                    "ratelimit.backup.directory is missing; write the path of a folder for backups,"
                            + " on another disk than " + files.get(0).path());
        }
        createFolder(folder);
        String time = TIME.format(clock.instant());
        List<Backup> made = new ArrayList<>();
        for (SqliteFile file : files) {
            Path target = folder.resolve(baseName(file) + "-" + time + END);
            file.backupTo(target);
            read(target).ifPresent(made::add);
        }
        return List.copyOf(made);
    }

    private static void createFolder(Path folder) {
        try {
            Files.createDirectories(folder, SqliteFile.ownerOnly(folder, "rwx------"));
        } catch (IOException e) {
            throw new LimitStoreException(
                    "the folder " + folder + " of ratelimit.backup.directory cannot be created (" + e
                            + "); write the path of a folder that this process may create and write to",
                    e);
        }
    }

    /** The complete backups of these files in the folder, newest first. */
    public List<Backup> list() {
        Path folder = directory;
        if (folder == null) {
            return List.of();
        }
        List<String> names = files.stream().map(Backups::baseName).toList();
        try (Stream<Path> all = Files.list(folder)) {
            return all.flatMap(path -> read(path).stream())
                    .filter(backup -> names.contains(backup.of()))
                    .sorted(Comparator.comparing(Backup::at).reversed().thenComparing(Backup::name))
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new LimitStoreException(
                    "the folder " + folder + " of ratelimit.backup.directory cannot be read (" + e
                            + "); write the path of a folder that this process may read",
                    e);
        }
    }

    /** Empty if it is not a backup, or gone. */
    private static Optional<Backup> read(Path path) {
        Matcher name = NAME.matcher(path.getFileName().toString());
        if (!name.matches()) {
            return Optional.empty();
        }
        try {
            BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
            return found.isRegularFile()
                    ? Optional.of(new Backup(
                            name.group(), name.group(1), TIME.parse(name.group(2), Instant::from), found.size()))
                    : Optional.empty();
        } catch (IOException | DateTimeException e) {
            return Optional.empty();
        }
    }

    private static String baseName(SqliteFile file) {
        String name = file.path().getFileName().toString();
        int end = name.lastIndexOf('.');
        return end > 0 ? name.substring(0, end) : name;
    }
}
