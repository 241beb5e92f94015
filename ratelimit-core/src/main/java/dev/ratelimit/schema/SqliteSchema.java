package dev.ratelimit.schema;

import dev.ratelimit.schema.SchemaException.Reason;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The tables in an SQLite file. */
final class SqliteSchema {

    private final SqliteFile file;
    private final Scripts scripts;
    private final String where;

    SqliteSchema(SqliteFile file, Scripts scripts) {
        this.file = file;
        this.scripts = scripts;
        this.where = "the SQLite file " + file.path();
    }

    /** While no other instance does: the file must also be created and switched to WAL by one of them alone. */
    void migrate() {
        file.exclusively(() -> {
            file.prepare();
            try (Connection connection = file.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                int applied = applied(statement);
                scripts.refuseNewer(where, applied);
                if (applied < scripts.newest()) {
                    run(statement, applied);
                }
            } catch (SQLException e) {
                throw new SchemaException(
                        String.valueOf(e.getMessage()).contains("already exists") ? Reason.OCCUPIED : Reason.FAILED,
                        where + " could not be migrated: " + e.getMessage(),
                        e);
            }
        });
    }

    private void run(Statement statement, int applied) throws SQLException {
        statement.execute("BEGIN IMMEDIATE"); // ends with the connection if it is not committed
        for (Scripts.Script script : scripts.after(applied)) {
            statement.executeUpdate(scripts.text(script.name()));
        }
        statement.execute("COMMIT");
    }

    void require() {
        if (Files.notExists(file.path())) {
            throw new SchemaException(Reason.MISSING, where + " does not exist", null);
        }
        try (Connection connection = file.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            scripts.requireCurrent(where, applied(statement));
        } catch (SQLException e) {
            throw new SchemaException(Reason.FAILED, where + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static int applied(Statement statement) throws SQLException {
        try (ResultSet table = statement.executeQuery(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + Schema.HISTORY_TABLE + "'")) {
            if (!table.next()) {
                return 0;
            }
        }
        try (ResultSet newest = statement.executeQuery("SELECT max(version) FROM " + Schema.HISTORY_TABLE)) {
            return newest.next() ? newest.getInt(1) : 0;
        }
    }
}
