package dev.ratelimit.archive;

import dev.ratelimit.support.Sha256;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The folder of a month, such as {@code 2026/11}, and what can be done with files on any file system. */
record MonthFolder(Path path) {

    static final String DATA = "audit_logs.parquet";
    static final String MANIFEST = "manifest.json";

    /** Does not end like an archive: tools that read all archives must not find it. */
    private static final Pattern UNFINISHED_NAME = Pattern.compile("(audit_logs|manifest)\\.([0-9a-f]{8})\\.tmp");

    private static final Pattern YEAR = Pattern.compile("\\d{4}");
    private static final Pattern MONTH = Pattern.compile("0[1-9]|1[0-2]");

    /** The files of an archive that is not complete. */
    record Unfinished(Path data, Path manifest) {

        void delete() throws IOException {
            Files.deleteIfExists(manifest);
            Files.deleteIfExists(data);
        }
    }

    static MonthFolder of(Path root, YearMonth month) {
        return new MonthFolder(
                root.resolve("%04d".formatted(month.getYear())).resolve("%02d".formatted(month.getMonthValue())));
    }

    /** The months that have a folder, the oldest first. */
    static List<YearMonth> months(Path root) throws IOException {
        List<YearMonth> months = new ArrayList<>();
        for (Path year : folders(root, YEAR)) {
            for (Path month : folders(year, MONTH)) {
                months.add(YearMonth.of(Integer.parseInt(name(year)), Integer.parseInt(name(month))));
            }
        }
        return months.stream().sorted().toList();
    }

    private static List<Path> folders(Path parent, Pattern names) throws IOException {
        if (!Files.isDirectory(parent)) {
            return List.of();
        }
        List<Path> folders = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent)) {
            entries.forEach(entry -> {
                if (names.matcher(name(entry)).matches() && Files.isDirectory(entry)) {
                    folders.add(entry);
                }
            });
        }
        return folders;
    }

    /** Some file systems end the names of folders with a slash. */
    private static String name(Path path) {
        return String.valueOf(path.getFileName()).replace("/", "");
    }

    Path data() {
        return path.resolve(DATA);
    }

    Path manifest() {
        return path.resolve(MANIFEST);
    }

    /** New files, which only their owner may read: they name users and addresses. */
    Unfinished begin() throws IOException {
        List<Path> parents = parentsOfMissing();
        Files.createDirectories(path, ownerOnly("rwx------"));
        for (Path parent : parents) {
            forceNames(parent);
        }
        Unfinished files = unfinished(UUID.randomUUID().toString().substring(0, 8));
        Files.createFile(files.data(), ownerOnly("rw-------"));
        Files.createFile(files.manifest(), ownerOnly("rw-------"));
        return files;
    }

    /** The folders whose names change if this one is created: the last of them exists. */
    List<Path> parentsOfMissing() {
        List<Path> parents = new ArrayList<>();
        Path folder = path.toAbsolutePath();
        while (folder.getParent() != null && !Files.exists(folder)) {
            folder = folder.getParent();
            parents.add(folder);
        }
        return parents;
    }

    private Unfinished unfinished(String id) {
        return new Unfinished(path.resolve("audit_logs." + id + ".tmp"), path.resolve("manifest." + id + ".tmp"));
    }

    /** The files of runs that ended early. */
    List<Unfinished> unfinished() throws IOException {
        if (!Files.isDirectory(path)) {
            return List.of();
        }
        List<String> ids = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            entries.forEach(entry -> {
                Matcher name = UNFINISHED_NAME.matcher(name(entry));
                if (name.matches()) {
                    ids.add(name.group(2));
                }
            });
        }
        return ids.stream().distinct().sorted().map(this::unfinished).toList();
    }

    /** Deletes the folder, and that of the year, if nothing is left in them. */
    void deleteIfEmpty() throws IOException {
        try {
            Files.deleteIfExists(path);
            Path year = path.getParent();
            if (year != null) {
                Files.deleteIfExists(year);
            }
        } catch (DirectoryNotEmptyException e) {
            // other files are not ours
        }
    }

    static void move(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException | UnsupportedOperationException e) {
            Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Returns when the file is on the disk. Other file systems than that of the machine answer when they have it. */
    static void force(Path file) throws IOException {
        if (isOfThisMachine(file)) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.force(true);
            }
        }
    }

    /** Returns when the names in the folder, and those of the year and the month, are on the disk. */
    void forceNames() throws IOException {
        Path folder = path;
        for (int level = 0; level < 3 && folder != null; level++) {
            forceNames(folder);
            folder = folder.getParent();
        }
    }

    private static void forceNames(Path folder) throws IOException {
        if (isOfThisMachine(folder) && hasPosix(folder)) {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
            } catch (AccessDeniedException e) {
                // A folder above ours may be one that this user may write to and not read: the system writes it out
                // later.
            }
        }
    }

    private static boolean isOfThisMachine(Path file) {
        return file.getFileSystem().equals(FileSystems.getDefault());
    }

    private static boolean hasPosix(Path file) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    private FileAttribute<?>[] ownerOnly(String rights) {
        return hasPosix(path)
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights))}
                : new FileAttribute<?>[0];
    }

    static String sha256(Path file) throws IOException {
        return HexFormat.of().formatHex(Sha256.of(file));
    }
}
