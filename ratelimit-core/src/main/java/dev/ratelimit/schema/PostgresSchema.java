package dev.ratelimit.schema;

import dev.ratelimit.schema.SchemaException.Reason;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * The tables in a schema of a PostgreSQL database.
 *
 * <ol>
 *   <li>The version is read. A current schema is left alone, and no lock is taken.
 *   <li>A lock keeps other instances waiting until the end of the transaction. Then the version is read again.
 *   <li>The scripts run in the same transaction. They create the schema if it does not exist.
 * </ol>
 *
 * The scripts are written for the schema {@code ratelimit}, so that an administrator can run them as they are. For another
 * schema its name is replaced.
 */
final class PostgresSchema {

    private static final String GRANTS = "grants.sql";

    /** A prefix of a name, or the name in a literal. */
    private static final Pattern NAME_IN_SCRIPT =
            Pattern.compile("\\bratelimit\\.|'ratelimit'|(?<=SCHEMA IF NOT EXISTS )ratelimit\\b");

    /** The end of a statement in a script without functions. */
    private static final Pattern END = Pattern.compile(";\\s*\\n");

    private static final String UNIQUE_VIOLATION = "23505";

    /** Such as {@code GRANT SELECT, INSERT ON ratelimit.rate_limits TO}. */
    private static final Pattern GRANT = Pattern.compile("GRANT ([A-Z, ]+) ON ratelimit\\.(\\w+) TO");

    /** Plain tables have no functions. */
    private static final String FUNCTION_RIGHT =
            "SELECT coalesce(has_function_privilege(to_regprocedure(?)::oid, 'EXECUTE'), true)";

    /** Such as {@code GRANT EXECUTE ON FUNCTION ratelimit.rate_limit_make_partitions(date) TO}. */
    private static final Pattern GRANT_OF_FUNCTION =
            Pattern.compile("GRANT EXECUTE ON FUNCTION ratelimit\\.(\\w+)(\\([a-z, ]*\\)) TO");

    private static final String TABLE_EXISTS = """
            SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = ? AND c.relname = ?
            """;

    /** All instances that migrate a schema of this name wait for each other; nobody waits for ever. */
    private static final String LOCK = """
            SET LOCAL lock_timeout = '30s';
            SELECT pg_advisory_xact_lock(hashtext('dev.ratelimit.schema'), hashtext('%s'))
            """;

    private static final String INSUFFICIENT_PRIVILEGE = "42501";

    /** SQL states for objects that already exist: a schema, a table or view, a function, any other object. */
    private static final Set<String> DUPLICATE = Set.of("42P06", "42P07", "42723", "42710");

    private final DataSource dataSource;
    private final String name;
    private final Scripts scripts;
    private final String where;

    PostgresSchema(DataSource dataSource, String name, Scripts scripts) {
        this.dataSource = dataSource;
        this.name = name;
        this.scripts = scripts;
        this.where = "the PostgreSQL schema " + name;
    }

    void migrate() {
        try (Connection connection = dataSource.getConnection()) {
            int applied = applied(connection);
            scripts.refuseNewer(where, applied);
            if (applied < scripts.newest() && scripts.equals(Scripts.POSTGRESQL_PLAIN)) {
                runOneByOne(connection, applied);
            } else if (applied < scripts.newest()) {
                run(connection);
            }
        } catch (SQLException e) {
            throw failed("could not be migrated", e);
        }
    }

    private void run(Connection connection) throws SQLException {
        PostgresConnections.commit(connection, transaction -> {
            try (Statement statement = transaction.createStatement()) {
                statement.execute(LOCK.formatted(name));
                int applied = applied(transaction);
                scripts.refuseNewer(where, applied);
                for (Scripts.Script script : scripts.after(applied)) {
                    statement.execute(here(scripts.text(script.name())));
                }
            }
        });
    }

    /** Not every database can create tables in a transaction. The last statement records the version. */
    private void runOneByOne(Connection connection, int applied) throws SQLException {
        for (Scripts.Script script : scripts.after(applied)) {
            for (String sql :
                    END.splitAsStream(here(scripts.text(script.name()))).toList()) {
                for (int tries = 1; !sql.isBlank() && !isDone(connection, sql, tries); tries++) {
                    LockSupport.parkNanos(tries * 100_000_000L);
                }
            }
        }
    }

    /**
     * Whether the statement is done. It is tried again after errors that a transaction would not be: instances that create the
     * same tables at once are in each other's way.
     */
    private static boolean isDone(Connection connection, String sql, int tries) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return true;
        } catch (SQLException e) {
            String state = String.valueOf(e.getSQLState());
            boolean again = state.equals(PostgresConnections.SERIALIZATION_FAILURE)
                    || state.equals(UNIQUE_VIOLATION)
                    || DUPLICATE.contains(state);
            if (!again || tries >= PostgresConnections.MOST_TRIES) {
                throw e;
            }
            return false;
        }
    }

    private String here(String script) {
        return NAME_IN_SCRIPT.matcher(script).replaceAll(match -> {
            String found = match.group();
            if (found.startsWith("'")) {
                return "'" + name + "'";
            }
            return found.endsWith(".") ? "\"" + name + "\"." : "\"" + name + "\"";
        });
    }

    void require() {
        try (Connection connection = dataSource.getConnection()) {
            scripts.requireCurrent(where, applied(connection));
            List<String> missing = missingRights(connection);
            if (!missing.isEmpty()) {
                throw new SchemaException(
                        Reason.MISSING,
                        where + " cannot be used: the database user lacks " + String.join(", ", missing) + "; run "
                                + scripts.folder() + GRANTS + " of the ratelimit-core jar",
                        null);
            }
        } catch (SQLException e) {
            throw failed("cannot be used", e);
        }
    }

    /** The version, or zero if there are no tables. */
    private int applied(Connection connection) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(TABLE_EXISTS)) {
            exists.setString(1, name);
            exists.setString(2, Schema.HISTORY_TABLE);
            try (ResultSet table = exists.executeQuery()) {
                if (!table.next()) {
                    return 0;
                }
            }
        }
        try (Statement statement = connection.createStatement();
                ResultSet versions =
                        statement.executeQuery("SELECT version FROM \"" + name + "\"." + Schema.HISTORY_TABLE)) {
            int newest = 0;
            while (versions.next()) {
                newest = Math.max(newest, versions.getInt(1));
            }
            return newest;
        }
    }

    /** The rights that the script of grants gives, and that the user of the connection has not. */
    private List<String> missingRights(Connection connection) throws SQLException {
        List<String> missing = new ArrayList<>();
        try (PreparedStatement has = connection.prepareStatement("SELECT has_table_privilege(?, ?)")) {
            for (Matcher grant = GRANT.matcher(scripts.text(GRANTS)); grant.find(); ) {
                for (String right : grant.group(1).split(",", -1)) {
                    has.setString(1, "\"" + name + "\"." + grant.group(2));
                    has.setString(2, right.strip());
                    try (ResultSet row = has.executeQuery()) {
                        if (!row.next() || !row.getBoolean(1)) {
                            missing.add(right.strip() + " on " + grant.group(2));
                        }
                    }
                }
            }
        }
        try (PreparedStatement has = connection.prepareStatement(FUNCTION_RIGHT)) {
            for (Matcher grant = GRANT_OF_FUNCTION.matcher(scripts.text(GRANTS)); grant.find(); ) {
                has.setString(1, "\"" + name + "\"." + grant.group(1) + grant.group(2));
                try (ResultSet row = has.executeQuery()) {
                    if (!row.next() || !row.getBoolean(1)) {
                        missing.add("EXECUTE on " + grant.group(1));
                    }
                }
            }
        }
        return missing;
    }

    private RuntimeException failed(String what, SQLException e) {
        String state = String.valueOf(e.getSQLState());
        if (state.startsWith("08")
                || state.startsWith("57P")) { // no connection, or a server that is starting or stopping
            return new LimitStoreException("PostgreSQL cannot be reached (" + e.getMessage() + ")", e);
        }
        Reason reason = Reason.FAILED;
        if (state.equals(INSUFFICIENT_PRIVILEGE)) {
            reason = Reason.FORBIDDEN;
        } else if (DUPLICATE.contains(state)) {
            reason = Reason.OCCUPIED;
        }
        return new SchemaException(reason, where + " " + what + ": " + firstLine(e), e);
    }

    /** The next ones name places in our scripts. */
    private static String firstLine(SQLException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }
}
