package dev.ratelimit.testing.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server as an administrator runs it: configured by its file, copied while it runs, killed, restored and promoted. Its
 * commits wait for the disk.
 */
public final class PostgresNode implements AutoCloseable {

    private static final Duration LONGEST = Duration.ofSeconds(60);

    private static final long PAUSE_NANOS = 1_000_000;

    /** The lock of the embedded server. */
    private static final String LOCK = "epg-lock";

    /** Files that belong to the running server, and its log, which is archived or streamed. */
    private static final Set<String> NOT_IN_A_BACKUP = Set.of("postmaster.pid", "postmaster.opts", LOCK);

    private final Path folder;
    private final int port;
    private final List<String> settings = new ArrayList<>();
    private @Nullable EmbeddedPostgres server;

    /**
     * Does not start it.
     *
     * @param folder its data; an empty one is initialised with the first start
     */
    public PostgresNode(Path folder) {
        this(folder, freePort());
    }

    /** On another folder, at the same address. */
    public PostgresNode(Path folder, int port) {
        this.folder = folder;
        this.port = port;
        // Not that of the embedded server, which would try to stop one that was killed.
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    private static int freePort() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int port() {
        return port;
    }

    /** The address without its parameters, for a list of hosts. */
    public String host() {
        return "localhost:" + port;
    }

    /** The whole address, user and password included. */
    public String jdbcUrl() {
        return "jdbc:postgresql://" + host() + "/postgres?user=postgres&password=postgres";
    }

    /** Adds settings to {@code postgresql.conf}, for the next start. */
    public PostgresNode configure(Recipe lines) {
        settings.addAll(lines.text().lines().toList());
        return this;
    }

    /** Creates an empty file in the folder, such as {@code standby.signal}. */
    public PostgresNode signal(String name) {
        try {
            Files.createFile(folder.resolve(name));
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns when it accepts connections. */
    public void start() {
        try {
            if (Files.exists(folder.resolve("postgresql.conf"))) {
                writeSettings(folder);
            }
            // The builder always passes -F (fsync off); the setting comes after it on the command line and wins.
            server = EmbeddedPostgres.builder()
                    .setPort(port)
                    .setDataDirectory(folder)
                    .setCleanDataDirectory(false)
                    .setServerConfig("fsync", "on")
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("max_connections", "50")
                    .setRegisterShutdownHook(false)
                    .setDataDirectoryCustomizer(this::writeSettings)
                    .setPGStartupWait(LONGEST)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("The embedded PostgreSQL server did not start", e);
        }
    }

    private void writeSettings(File data) {
        writeSettings(data.toPath());
    }

    private void writeSettings(Path data) {
        try {
            Files.write(data.resolve("postgresql.conf"), settings, StandardOpenOption.APPEND);
            settings.clear();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The first column of the first row. */
    public String query(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbcUrl());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? String.valueOf(row.getString(1)) : "";
        }
    }

    public void execute(Recipe statements) throws SQLException {
        for (String sql : statements.text().split(";", -1)) {
            if (!sql.isBlank()) {
                execute(sql);
            }
        }
    }

    public void execute(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(jdbcUrl());
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Copies the running server into a folder, as a base backup between the two calls. */
    public void baseBackup(Path target) throws SQLException, IOException {
        try (Connection connection = DriverManager.getConnection(jdbcUrl());
                Statement statement = connection.createStatement()) {
            statement.execute(Recipe.of("base-backup-start.sql").text());
            copy(folder, target);
            try (ResultSet stopped =
                    statement.executeQuery(Recipe.of("base-backup-stop.sql").text())) {
                stopped.next();
                Files.writeString(target.resolve("backup_label"), stopped.getString(1));
            }
        }
    }

    /** Copies a folder. The log is left out. Files that are deleted meanwhile are no part of the copy. */
    public static void copy(Path source, Path target) throws IOException {
        Files.walkFileTree(source, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                Path copy = target.resolve(source.relativize(directory).toString());
                Files.createDirectories(copy.getParent());
                if (!Files.isDirectory(copy)) {
                    Files.createDirectory(copy);
                }
                Files.setPosixFilePermissions(copy, Files.getPosixFilePermissions(directory));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Path relative = source.relativize(file);
                if (!relative.startsWith("pg_wal") && !NOT_IN_A_BACKUP.contains(relative.toString())) {
                    try {
                        Files.copy(file, target.resolve(relative.toString()));
                    } catch (NoSuchFileException e) {
                        return FileVisitResult.CONTINUE; // deleted meanwhile; the log has what is needed
                    }
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }
        });
    }

    /** Ends all its processes by SIGKILL, as a machine does that loses power. */
    public void kill() throws IOException {
        long pid = Long.parseLong(
                Files.readAllLines(folder.resolve("postmaster.pid")).get(0).strip());
        ProcessHandle postmaster = ProcessHandle.of(pid)
                .orElseThrow(() -> new IllegalStateException("The PostgreSQL server at " + folder + " is not running"));
        try (Stream<ProcessHandle> children = postmaster.descendants()) {
            List<ProcessHandle> all = new ArrayList<>(children.toList());
            all.add(0, postmaster);
            all.forEach(ProcessHandle::destroyForcibly);
            // Waiting for a process that is not our child takes a second by itself.
            while (all.stream().anyMatch(ProcessHandle::isAlive)) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
        // This process still has it locked, on behalf of the server that was killed.
        Files.delete(folder.resolve(LOCK));
        server = null;
    }

    /** Stops it in order, if it runs. */
    @Override
    public void close() {
        EmbeddedPostgres running = server;
        server = null;
        if (running != null) {
            try {
                running.close();
            } catch (IOException e) {
                throw new UncheckedIOException("The embedded PostgreSQL server did not stop", e);
            }
        }
    }
}
