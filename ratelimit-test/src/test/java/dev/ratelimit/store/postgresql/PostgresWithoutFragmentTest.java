package dev.ratelimit.store.postgresql;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.TestStores;
import dev.ratelimit.test.store.LimitStoreContract;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;

/** An algorithm without an SQL fragment is decided in Java, and nobody can tell. */
class PostgresWithoutFragmentTest extends LimitStoreContract {

    private static final String SCHEMA = TestPostgres.instance().freshSchema();

    @Override
    protected LimitStore open(InstantSource clock) throws SQLException {
        LimitStore store = TestStores.postgres(SCHEMA, clock).withoutFragment("token-bucket");
        try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("TRUNCATE %1$s.rate_limits, %1$s.rate_limit_penalties".formatted(SCHEMA));
        }
        return store;
    }

    @Override
    protected boolean isStored(String subject) throws SQLException {
        try (Connection connection = ((PostgresLimitStore) store).connect();
                PreparedStatement select =
                        connection.prepareStatement("SELECT 1 FROM " + SCHEMA + ".rate_limits WHERE user_id = ?")) {
            select.setString(1, subject);
            return select.executeQuery().next();
        }
    }

    @Override
    protected String databaseInUse() throws SQLException {
        try (Connection connection = ((PostgresLimitStore) store).connect()) {
            return connection.getMetaData().getDatabaseProductName();
        }
    }

    @Override
    protected String expectedDatabase() {
        return "PostgreSQL";
    }
}
