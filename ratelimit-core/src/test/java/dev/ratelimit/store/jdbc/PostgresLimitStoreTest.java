package dev.ratelimit.store.jdbc;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreContract;
import dev.ratelimit.testing.TestPostgres;
import dev.ratelimit.testing.TestStores;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;

class PostgresLimitStoreTest extends LimitStoreContract {

    private static final String SCHEMA = TestPostgres.instance().freshSchema();

    @Override
    protected LimitStore open(InstantSource clock) throws SQLException {
        LimitStore empty = TestStores.postgres(SCHEMA, clock);
        try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("TRUNCATE %1$s.rate_limits, %1$s.rate_limit_penalties".formatted(SCHEMA));
        }
        return empty;
    }

    @Override
    protected String databaseInUse() throws SQLException {
        try (Connection connection = ((PostgresLimitStore) store).connect()) {
            return connection.getMetaData().getDatabaseProductName() + " "
                    + connection.getMetaData().getDatabaseProductVersion();
        }
    }

    @Override
    protected String expectedDatabase() {
        return "PostgreSQL 1[4-9].*";
    }
}
