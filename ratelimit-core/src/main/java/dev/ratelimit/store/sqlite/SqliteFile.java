package dev.ratelimit.store.sqlite;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConnection;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteOpenMode;

/**
 * An SQLite file that several processes may share. It is created with rights for its owner only, and in WAL mode. Every
 * connection has a busy timeout.
 */
public final class SqliteFile {

    /** How much of the last decisions a crash may lose. */
    public enum Synchronous {
        /** A crash of the process loses nothing; a crash of the machine may lose the last moments. */
        NORMAL,
        /** Every decision is on the disk before it is answered. */
        FULL
    }

    /** A file lock belongs to the process, so the threads of one process need a lock of their own. */
    private static final ReentrantLock IN_THIS_PROCESS = new ReentrantLock();

    private static final Set<Path> HELD_BY_THIS_PROCESS = ConcurrentHashMap.newKeySet();

    /** At most; a small file takes no more than it is long. */
    private static final int CACHE_KIBIBYTES = 32 * 1024;

    /**
     * The page size of a new file: half of the default. A decision writes a whole page for each row. A still smaller
     * page could not hold a row with a long subject, which then takes two, as one with a long log does already.
     */
    private static final int PAGE_BYTES = 2_048;

    /** Twelve megabytes, of a file with pages of that size. */
    private static final int LOG_PAGES = 6_000;

    /** The files that SQLite keeps beside the database. */
    private static final List<String> COMPANIONS = List.of("-wal", "-shm");

    private final Path path;
    private final Synchronous synchronous;
    private final Duration busyTimeout;
    private final @Nullable Consumer<SqliteFile> creation;
    private final @Nullable Consumer<SqliteFile> opening;

    private SqliteFile(
            Path path,
            Synchronous synchronous,
            Duration busyTimeout,
            @Nullable Consumer<SqliteFile> creation,
            @Nullable Consumer<SqliteFile> opening) {
        this.path = path;
        this.synchronous = synchronous;
        this.busyTimeout = busyTimeout;
        this.creation = creation;
        this.opening = opening;
    }

    /** The file at that path, which is created if it does not exist. */
    public static SqliteFile at(Path path) {
        return new SqliteFile(path.toAbsolutePath(), Synchronous.NORMAL, Duration.ofSeconds(1), null, null);
    }

    public SqliteFile synchronous(Synchronous mode) {
        return new SqliteFile(path, mode, busyTimeout, creation, opening);
    }

    /** How long a decision waits for another process that is writing. */
    public SqliteFile busyTimeout(Duration timeout) {
        if (timeout.isNegative() || timeout.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException(
                    "busy timeout is " + timeout + "; write a time of at most 1h, such as 1s");
        }
        return new SqliteFile(path, synchronous, timeout, creation, opening);
    }

    /**
     * This file, which is created again if it is deleted while it is in use.
     *
     * @param create creates a missing file with its tables, such as {@code Schema::migrate}
     */
    public SqliteFile createdAgainBy(Consumer<SqliteFile> create) {
        return new SqliteFile(path, synchronous, busyTimeout, create, opening);
    }

    /**
     * This file, which may be unavailable for now: its folder may be on a volume that is mounted later. It is opened before the
     * first of its connections.
     *
     * @param open brings the file to its schema, or requires that it is current, such as {@code Schema::migrate}
     */
    public SqliteFile openedLaterBy(Consumer<SqliteFile> open) {
        return new SqliteFile(path, synchronous, busyTimeout, creation, open);
    }

    /** Creates a missing file with its tables, if this file was told how. */
    void createAgain() {
        if (creation != null) {
            creation.accept(asItIs());
        }
    }

    private SqliteFile asItIs() {
        return new SqliteFile(path, synchronous, busyTimeout, null, null);
    }

    /**
     * Identifies the file at the path. It changes when the file is replaced by another one, for as long as someone has
     * the old one open. Where the file system has no such key, it is the path.
     *
     * @return {@code null} if there is no file
     */
    public @Nullable Object identity() throws IOException {
        try {
            Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
            return key == null ? path : key;
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    Duration busyTimeout() {
        return busyTimeout;
    }

    public Path path() {
        return path;
    }

    /** Connections to the file, each a new one. If the file is missing, it is created again, if this file was told how. */
    public DataSource dataSource() {
        SQLiteConfig config = new SQLiteConfig();
        return dataSource(
                config,
                creation == null && opening == null ? new SQLiteDataSource(config) : new CreatingDataSource(config));
    }

    /** The same for the live state, which is written all the time, a few rows here and a few there. */
    DataSource stateDataSource() {
        SQLiteConfig config = new SQLiteConfig();
        // No statement generates a key: the driver need not look for one.
        config.setGetGeneratedKeys(false);
        // By default two megabytes are held in memory.
        config.setCacheSize(-CACHE_KIBIBYTES);
        return dataSource(config, new SQLiteDataSource(config));
    }

    /**
     * By default a log of two megabytes is copied back into the file: far too often. A statement, since the driver of
     * Spring Boot 4.0 has no setting for it.
     */
    static void lengthenLog(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA wal_autocheckpoint = " + LOG_PAGES);
        }
    }

    private DataSource dataSource(SQLiteConfig config, SQLiteDataSource dataSource) {
        config.setBusyTimeout((int) busyTimeout.toMillis());
        config.setSynchronous(
                synchronous == Synchronous.FULL
                        ? SQLiteConfig.SynchronousMode.FULL
                        : SQLiteConfig.SynchronousMode.NORMAL);
        // A connection must not create a missing file: it would be empty, and readable by everybody.
        config.resetOpenMode(SQLiteOpenMode.CREATE);
        // as a URI, so that a '?' in the path does not begin the settings of the driver
        dataSource.setUrl("jdbc:sqlite:" + path.toUri());
        return dataSource;
    }

    /** Opens the file before it connects to it for the first time, and creates it again if it is missing later. */
    private final class CreatingDataSource extends SQLiteDataSource {

        private volatile boolean opened = opening == null;

        private CreatingDataSource(SQLiteConfig config) {
            super(config);
        }

        @Override
        public SQLiteConnection getConnection(@Nullable String username, @Nullable String password)
                throws SQLException {
            try {
                open();
            } catch (LimitStoreException e) {
                throw new SQLTransientConnectionException(e.getMessage(), e);
            }
            return super.getConnection(username, password);
        }

        private void open() {
            if (opening != null && !opened) {
                opening.accept(asItIs());
                opened = true;
            } else if (Files.notExists(path)) {
                createAgain();
            }
        }
    }

    /** Creates the file if it does not exist, and brings it into WAL mode. To be called {@link #exclusively}. */
    public void prepare() {
        try {
            if (Files.notExists(path)) {
                // Those of a deleted database: a process that still has it open must not share them with the new one.
                for (String companion : COMPANIONS) {
                    Files.deleteIfExists(path.resolveSibling(path.getFileName() + companion));
                }
            }
            Files.createFile(path, ownerOnly());
        } catch (FileAlreadyExistsException e) {
            // as it should be from the second start on
        } catch (IOException e) {
            throw unusable(e, "choose a path in a folder that exists and that this process may write to");
        }
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            DatabaseProduct.of(connection);
            if (!"wal".equalsIgnoreCase(journalMode(statement, "PRAGMA journal_mode"))) {
                statement.execute("PRAGMA page_size = " + PAGE_BYTES); // does nothing to a file that is not empty
                String mode = journalMode(statement, "PRAGMA journal_mode = WAL");
                if (!"wal".equalsIgnoreCase(mode)) {
                    throw new LimitStoreException(
                            "SQLite keeps " + path + " in journal mode " + mode + ", not in WAL;"
                                    + " put the file on a local disk",
                            new SQLException("journal_mode is " + mode));
                }
            }
        } catch (SQLException e) {
            throw unusable(
                    e,
                    "choose the path of an SQLite database that this process may write to, or of a file that does not"
                            + " exist yet");
        }
    }

    /**
     * Writes a copy of this file, as it is at one moment, while any number of processes use it. Decisions do not wait for
     * it. The copy is checked and on the disk when this returns. Only its owner may read it.
     *
     * @param target a file that does not exist, in a folder that does
     * @throws LimitStoreException if there is no complete copy; then there is no file at the target either
     */
    public void backupTo(Path target) {
        new SqliteBackup(at(path).busyTimeout(busyTimeout)).writeTo(target.toAbsolutePath());
    }

    private static String journalMode(Statement statement, String pragma) throws SQLException {
        try (ResultSet mode = statement.executeQuery(pragma)) {
            return mode.next() ? mode.getString(1) : "unknown";
        }
    }

    /** Runs while no other process or thread prepares or migrates this file. */
    public void exclusively(Runnable work) {
        Path lockPath = path.resolveSibling(path.getFileName() + ".lock");
        IN_THIS_PROCESS.lock();
        try (FileChannel channel =
                FileChannel.open(lockPath, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), ownerOnly())) {
            channel.lock(); // released with the channel
            work.run();
        } catch (IOException e) {
            throw unusable(e, "choose a path in a folder that exists and that this process may write to");
        } finally {
            IN_THIS_PROCESS.unlock();
        }
    }

    /**
     * Runs unless another process or thread does the same with this file. A process that dies lets others in.
     *
     * @param what a word for it
     * @return whether it ran
     */
    public boolean ifAlone(String what, Runnable work) {
        Path lockPath = path.resolveSibling(path.getFileName() + "." + what + ".lock");
        // A second channel of the same process would end the lock of the first when it is closed.
        if (!HELD_BY_THIS_PROCESS.add(lockPath)) {
            return false;
        }
        try (FileChannel channel =
                FileChannel.open(lockPath, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), ownerOnly())) {
            if (channel.tryLock() == null) {
                return false;
            }
            work.run();
            return true;
        } catch (IOException e) {
            throw unusable(e, "choose a path in a folder that exists and that this process may write to");
        } finally {
            HELD_BY_THIS_PROCESS.remove(lockPath);
        }
    }

    private LimitStoreException unusable(Exception cause, String advice) {
        return new LimitStoreException("the SQLite file " + path + " cannot be used (" + cause + "); " + advice, cause);
    }

    private FileAttribute<?>[] ownerOnly() {
        return ownerOnly(path, "rw-------");
    }

    /** Rights for a new file or folder, where the file system has such rights. */
    static FileAttribute<?>[] ownerOnly(Path path, String rights) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(rights))}
                : new FileAttribute<?>[0];
    }
}
