package dev.ratelimit.database;

import dev.ratelimit.audit.AuditDatabase;
import dev.ratelimit.audit.retention.RetentionDatabase;
import dev.ratelimit.connection.LaterConnections;
import dev.ratelimit.connection.Silence;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.support.LogText;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The database of the audit trail, with connections of its own: beside the counts in PostgreSQL, and in a second file beside
 * that of SQLite. So it never keeps decisions waiting.
 */
public final class AuditConnections implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(AuditConnections.class);

    /** Nobody else uses it: the audit trail is written however slow reports are. */
    private static final int MOST_WRITING = 1;

    /** One to read, and one to drop old months. */
    private static final int MOST_READING = 2;

    /** A statement that drops or archives a month may take ten minutes. */
    private static final Duration LONGEST_DROP = Duration.ofMinutes(11);

    private final AuditDatabase database;
    private final RetentionDatabase retention;
    private final @Nullable SqliteFile file;
    private final List<LaterConnections> connections;

    private AuditConnections(
            AuditDatabase database,
            RetentionDatabase retention,
            @Nullable SqliteFile file,
            List<LaterConnections> connections) {
        this.database = database;
        this.retention = retention;
        this.file = file;
        this.connections = connections;
    }

    /**
     * Opens it. PostgreSQL may be unavailable for now, and a file may be unless it is required.
     *
     * @param beside the database of the counts, or else of the limits and rules
     * @param migrated whether its schema is up to date already
     * @param required whether to fail if the file cannot be opened now
     * @param path the second SQLite file; {@code null} for one in the folder of the first
     */
    public static AuditConnections beside(
            StateDatabase beside, boolean migrated, boolean required, @Nullable String path) {
        if (beside instanceof StateDatabase.Sqlite sqlite) {
            Path chosen = path == null ? besideFile(sqlite.file().path()) : Path.of(path);
            SqliteFile file = open(SqliteFile.at(chosen), sqlite.migrates(), required);
            return new AuditConnections(AuditDatabase.sqlite(file), RetentionDatabase.sqlite(file), file, List.of());
        }
        if (beside instanceof PostgresDatabase postgres) {
            LaterConnections writing = new LaterConnections(
                    () -> postgres.openForOperators("ratelimit-audit", 0, MOST_WRITING, !migrated));
            LaterConnections reading = new LaterConnections(
                    () -> postgres.openForOperators("ratelimit-reports", 0, MOST_READING, !migrated));
            String schema = postgres.settings().schema();
            return new AuditConnections(
                    AuditDatabase.postgres(writing, reading, schema),
                    RetentionDatabase.postgres(Silence.bound(reading, LONGEST_DROP), schema),
                    null,
                    List.of(writing, reading));
        }
        throw new IllegalStateException("the audit trail is not kept in " + beside);
    }

    private static SqliteFile open(SqliteFile file, boolean migrates, boolean required) {
        Consumer<SqliteFile> opening = migrates ? Schema::migrateAudit : Schema::requireAudit;
        SqliteFile lasting = migrates ? file.createdAgainBy(opening) : file;
        try {
            opening.accept(file);
            return lasting;
        } catch (LimitStoreException e) {
            if (required) {
                throw e;
            }
            log.warn(
                    "Starting without the audit trail; writing it as soon as its file is available: {}",
                    LogText.of(e.getMessage()));
            return lasting.openedLaterBy(opening);
        }
    }

    /** Such as {@code ratelimit-audit.db} for {@code ratelimit.db}. */
    static Path besideFile(Path file) {
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        return file.resolveSibling(dot > 0 ? name.substring(0, dot) + "-audit" + name.substring(dot) : name + "-audit");
    }

    public AuditDatabase database() {
        return database;
    }

    /** The same tables, to drop old months. */
    public RetentionDatabase retention() {
        return retention;
    }

    /** The SQLite file; {@code null} if the audit trail is in PostgreSQL. */
    public @Nullable SqliteFile file() {
        return file;
    }

    @Override
    public void close() {
        connections.forEach(LaterConnections::close);
    }
}
