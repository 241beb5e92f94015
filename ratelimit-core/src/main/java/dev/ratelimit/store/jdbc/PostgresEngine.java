package dev.ratelimit.store.jdbc;

import dev.ratelimit.store.LimitStoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** The databases behind PostgreSQL's protocol. Citus is PostgreSQL, with an extension. */
public enum PostgresEngine {
    POSTGRESQL("PostgreSQL", "PostgreSQL"),
    COCKROACHDB("CockroachDB", "CockroachDB"),
    YUGABYTEDB("YugabyteDB", "-YB-");

    private final String productName;
    private final String mark;

    PostgresEngine(String productName, String mark) {
        this.productName = productName;
        this.mark = mark;
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
        try (Statement statement = postgres.createStatement();
                ResultSet version = statement.executeQuery("SELECT version()")) {
            String text = version.next() ? version.getString(1) : "";
            for (PostgresEngine engine : values()) {
                if (engine != POSTGRESQL && text.contains(engine.mark)) {
                    return engine;
                }
            }
            return POSTGRESQL;
        }
    }

    /** Whether it has all that decisions with row locks and the tables with functions, triggers and partitions need. */
    public boolean isComplete() {
        return this == POSTGRESQL;
    }

    @Override
    public String toString() {
        return productName;
    }
}
