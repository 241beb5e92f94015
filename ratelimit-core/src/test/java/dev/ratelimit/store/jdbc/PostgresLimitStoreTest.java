package dev.ratelimit.store.jdbc;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreContract;
import dev.ratelimit.testing.TestPostgres;
import dev.ratelimit.testing.TestStores;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;

class PostgresLimitStoreTest extends LimitStoreContract {

    @Override
    protected LimitStore open(InstantSource clock) {
        return TestStores.postgres(TestPostgres.instance().freshSchema(), clock);
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
