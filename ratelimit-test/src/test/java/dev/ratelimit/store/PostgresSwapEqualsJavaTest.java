package dev.ratelimit.store;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.time.InstantSource;
import javax.sql.DataSource;

/** Holds the PostgreSQL store that decides by swaps equal to the arithmetic in Java, rows included. */
class PostgresSwapEqualsJavaTest extends StoreEqualsJava {

    private final String schema = TestPostgres.instance().freshSchema();

    @Override
    protected LimitStore open(InstantSource clock) {
        return TestStores.postgresSwap(schema, clock);
    }

    @Override
    DataSource database() {
        return TestPostgres.instance().dataSource();
    }

    @Override
    String table(String name) {
        return '"' + schema + "\"." + name;
    }

    @Override
    String clearing(String table) {
        return "TRUNCATE " + table(table);
    }
}
