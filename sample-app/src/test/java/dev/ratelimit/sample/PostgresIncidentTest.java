package dev.ratelimit.sample;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.util.List;

class PostgresIncidentTest extends IncidentContract {

    @Override
    List<String> database() {
        return List.of(
                "--spring.profiles.active=postgresql",
                "--RATELIMIT_DB_URL=" + TestPostgres.instance().jdbcUrl(),
                "--RATELIMIT_DB_USERNAME=",
                "--RATELIMIT_DB_PASSWORD=",
                "--RATELIMIT_DB_SCHEMA=" + TestPostgres.instance().freshSchema());
    }
}
