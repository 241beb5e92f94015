package dev.ratelimit.store;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.time.InstantSource;
import javax.sql.DataSource;

/** Holds the function of the PostgreSQL store equal to the arithmetic in Java. */
class PostgresEqualsJavaTest extends StoreEqualsJava {

    private final String schema = TestPostgres.instance().freshSchema();

    @Override
    protected LimitStore open(InstantSource clock) {
        return TestStores.postgres(schema, clock);
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
