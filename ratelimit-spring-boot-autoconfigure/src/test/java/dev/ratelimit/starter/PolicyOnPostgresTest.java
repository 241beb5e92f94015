package dev.ratelimit.starter;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.util.List;

class PolicyOnPostgresTest extends PolicyRequests {

    private static final String SCHEMA = TestPostgres.instance().freshSchema();

    @Override
    List<String> store() {
        return List.of(
                "ratelimit.store.postgresql.url=" + TestPostgres.instance().jdbcUrl(),
                "ratelimit.store.postgresql.schema=" + SCHEMA,
                "ratelimit.changes.poll-interval=1h"); // the other instance learns by notification
    }
}
