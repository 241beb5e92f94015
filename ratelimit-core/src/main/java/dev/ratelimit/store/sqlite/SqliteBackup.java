package dev.ratelimit.store.sqlite;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.support.LogText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies an SQLite file that is in use.
 *
 * <ol>
 *   <li>An empty file with a temporary name is created beside the target. It belongs to this backup alone: nobody else can
 *       write the same target.
 *   <li>{@code VACUUM INTO} writes one moment of the database into it, the log included. It only reads, so that others go on
 *       writing. The log grows meanwhile.
 *   <li>The copy is checked and brought to the disk, which SQLite does not do here.
 *   <li>It gets its name. A file with that name is therefore always complete.
 * </ol>
 */
final class SqliteBackup {

    private static final Logger log = LoggerFactory.getLogger(SqliteBackup.class);

    /** The end of the name of a backup that is not complete. */
    static final String PART = ".part";

    private final SqliteFile file;

    SqliteBackup(SqliteFile file) {
        this.file = file;
    }

    void writeTo(Path target) {
        if (Files.notExists(file.path())) {
            throw failed(
                    target,
                    new IOException("there is no file " + file.path()),
                    "name the SQLite file that your application uses");
        }
        Path part = target.resolveSibling(target.getFileName() + PART);
        reserve(part, target);
        try {
            copyInto(part, target);
            check(part, target);
            publish(part, target);
        } finally {
            deleteQuietly(part);
        }
    }

    private void reserve(Path part, Path target) {
        try {
            Files.createFile(part, SqliteFile.ownerOnly(part, "rw-------"));
        } catch (FileAlreadyExistsException e) {
            throw failed(
                    target,
                    new IOException(part + " exists", e),
                    "wait for the backup that is writing it, or delete it if there is none");
        } catch (IOException e) {
            throw failed(target, e, "choose a folder that exists and that this process may write to");
        }
        if (Files.exists(target)) {
            deleteQuietly(part);
            throw failed(
                    target,
                    new FileAlreadyExistsException(target.toString()),
                    "choose the name of a file that does not exist");
        }
    }

    private void copyInto(Path part, Path target) {
        try (Connection connection = file.dataSource().getConnection();
                PreparedStatement vacuum = connection.prepareStatement("VACUUM INTO ?")) {
            vacuum.setString(1, part.toString());
            vacuum.execute();
        } catch (SQLException e) {
            throw failed(
                    target,
                    e,
                    "make sure that " + file.path()
                            + " is an SQLite database that this process may read, and that there is"
                            + " room for its copy");
        }
    }

    private void check(Path part, Path target) {
        String found;
        try (Connection connection = SqliteFile.at(part).dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("PRAGMA integrity_check(1)")) {
            found = result.next() ? result.getString(1) : "no answer";
        } catch (SQLException e) {
            found = String.valueOf(e.getMessage());
        }
        if (!found.equals("ok")) {
            throw failed(
                    target,
                    new IOException("the copy is damaged: " + found),
                    "check " + file.path() + " with PRAGMA integrity_check, and keep your older backups");
        }
    }

    private void publish(Path part, Path target) {
        try {
            try (FileChannel copy = FileChannel.open(part, StandardOpenOption.WRITE)) {
                copy.force(true);
            }
            try {
                Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
            } catch (AtomicMoveNotSupportedException e) {
                Files.move(part, target);
            }
        } catch (IOException e) {
            throw failed(target, e, "make sure that the folder is on a disk with room that this process may write to");
        }
        forceFolder(target);
    }

    /** Makes the name survive a crash of the machine. Not every system can do it. */
    private static void forceFolder(Path target) {
        Path folder = target.getParent();
        if (folder == null) {
            return;
        }
        try (FileChannel names = FileChannel.open(folder, StandardOpenOption.READ)) {
            names.force(true);
        } catch (IOException e) {
            log.debug("Could not flush the folder {}", folder, e);
        }
    }

    private static void deleteQuietly(Path part) {
        try {
            Files.deleteIfExists(part);
        } catch (IOException e) {
            log.warn("Could not delete the incomplete backup {}: {}", part, LogText.of(e.getMessage()));
        }
    }

    private LimitStoreException failed(Path target, Exception cause, String advice) {
        return new LimitStoreException(
                "could not back up " + file.path() + " to " + target + " (" + cause.getMessage() + "); " + advice,
                cause);
    }
}
