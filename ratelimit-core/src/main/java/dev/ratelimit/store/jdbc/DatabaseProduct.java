package dev.ratelimit.store.jdbc;

import dev.ratelimit.store.LimitStoreException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** The databases that state can live in. */
public enum DatabaseProduct {
    SQLITE("SQLite", "3.51.3", "older ones can lose committed changes in WAL mode"),
    POSTGRESQL("PostgreSQL", "14", "older ones are no longer maintained");

    private final String productName;
    private final String oldest;
    private final String reason;

    DatabaseProduct(String productName, String oldest, String reason) {
        this.productName = productName;
        this.oldest = oldest;
        this.reason = reason;
    }

    /** Which database the connections of the data source lead to. */
    public static DatabaseProduct of(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return of(connection);
        } catch (SQLException e) {
            throw new LimitStoreException("cannot read the product and version of the database: " + e.getMessage(), e);
        }
    }

    /**
     * Which database the connection leads to.
     *
     * @throws UnsupportedDatabaseException if it is another product, or too old
     */
    public static DatabaseProduct of(Connection connection) throws SQLException {
        DatabaseMetaData database = connection.getMetaData();
        String name = database.getDatabaseProductName();
        String version = database.getDatabaseProductVersion();
        for (DatabaseProduct product : values()) {
            if (product.productName.equalsIgnoreCase(name)) {
                if (product != POSTGRESQL
                        || (isOlder(version, product.oldest)
                                && PostgresEngine.of(connection).isComplete())) {
                    product.requireVersion(version); // compatible databases have versions of their own
                }
                return product;
            }
        }
        throw new UnsupportedDatabaseException("unsupported database " + name + " " + version + "; use PostgreSQL "
                + POSTGRESQL.oldest + " or later, or SQLite");
    }

    /**
     * Refuses a data source of another database than PostgreSQL.
     *
     * @param purpose the things that the database is for, such as "policies"
     * @throws UnsupportedDatabaseException also if PostgreSQL is too old
     */
    public static void requirePostgres(DataSource dataSource, String purpose) {
        DatabaseProduct product = of(dataSource);
        if (product != POSTGRESQL) {
            throw new UnsupportedDatabaseException("the data source for " + purpose + " leads to " + product
                    + "; use PostgreSQL, or pass the path of the file instead (SqliteFile.at)");
        }
    }

    /** The oldest version that is supported. */
    public String oldest() {
        return oldest;
    }

    @Override
    public String toString() {
        return productName;
    }

    void requireVersion(String version) {
        if (isOlder(version, oldest)) {
            throw new UnsupportedDatabaseException(
                    "unsupported database " + productName + " " + version + "; use " + oldest + " or later: " + reason,
                    this);
        }
    }

    private static boolean isOlder(String version, String than) {
        int[] parts = numbers(version);
        int[] others = numbers(than);
        for (int i = 0; i < others.length; i++) {
            int part = i < parts.length ? parts[i] : 0;
            if (part != others[i]) {
                return part < others[i];
            }
        }
        return false;
    }

    /** The numbers that the version begins with: {@code 18.1 (Debian 18.1-1)} gives 18 and 1. */
    private static int[] numbers(String version) {
        String dotted = version.strip().replaceFirst("[^0-9.].*", "");
        return Pattern.compile("\\.")
                .splitAsStream(dotted)
                .filter(part -> !part.isEmpty())
                .mapToInt(Integer::parseInt)
                .toArray();
    }
}
