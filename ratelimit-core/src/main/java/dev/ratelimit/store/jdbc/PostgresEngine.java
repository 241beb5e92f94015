package dev.ratelimit.store.jdbc;

import dev.ratelimit.store.LimitStoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** The databases behind PostgreSQL's protocol. */
public enum PostgresEngine {
    POSTGRESQL("PostgreSQL", true, ""),
    /** PostgreSQL with an extension. */
    CITUS("Citus", true, "which refuses the clock in a write"),
    COCKROACHDB("CockroachDB", false, "where row locks are expensive or missing"),
    YUGABYTEDB("YugabyteDB", false, "where row locks are expensive or missing");

    private static final String EXTENSION = "citus";

    private final String productName;
    private final boolean complete;
    private final String obstacle;

    PostgresEngine(String productName, boolean complete, String obstacle) {
        this.productName = productName;
        this.complete = complete;
        this.obstacle = obstacle;
    }

    /** Which database the connections of the data source lead to. */
    public static PostgresEngine of(DataSource postgres) {
        try (Connection connection = postgres.getConnection()) {
            return of(connection);
        } catch (SQLException e) {
            throw new LimitStoreException("cannot read the version of the database: " + e.getMessage(), e);
        }
    }

    static PostgresEngine of(Connection postgres) throws SQLException {
        String version = text(postgres, "SELECT version()");
        if (version.contains("CockroachDB")) {
            return COCKROACHDB;
        }
        if (version.contains("-YB-")) {
            return YUGABYTEDB;
        }
        String extension = text(postgres, "SELECT extname FROM pg_extension WHERE extname = '" + EXTENSION + "'");
        return extension.equals(EXTENSION) ? CITUS : POSTGRESQL;
    }

    private static String text(Connection postgres, String query) throws SQLException {
        try (Statement statement = postgres.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getString(1) : "";
        }
    }

    /** Whether it has all that the tables with functions, triggers and partitions need, and the versions of PostgreSQL. */
    public boolean isComplete() {
        return complete;
    }

    /** The reason why decisions cannot lock rows there; empty if they can. */
    public String obstacleToLocks() {
        return obstacle;
    }

    @Override
    public String toString() {
        return productName;
    }
}
