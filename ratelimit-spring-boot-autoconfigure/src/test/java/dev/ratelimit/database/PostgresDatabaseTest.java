package dev.ratelimit.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.connection.PostgresSource;
import dev.ratelimit.database.StoreProperties.Postgresql;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.mock.env.MockEnvironment;

class PostgresDatabaseTest {

    /** A frozen server must not hold threads for good. {@code FrozenPostgresTest} shows what such a bound does. */
    @Test
    void serverMayBeSilentForLittleLongerThanTheLongestQuery() throws Exception {
        Postgresql settings =
                Binder.get(new MockEnvironment()).bindOrCreate("ratelimit.store.postgresql", Postgresql.class);
        PostgresDatabase database = new PostgresDatabase(
                new PostgresSource.Address(TestPostgres.instance().jdbcUrl(), null, null), settings, false);
        try (LimiterConnections connections = database.openForOperators("test", 0, 1, false);
                Connection connection = connections.getConnection()) {
            assertThat(Duration.ofMillis(connection.getNetworkTimeout()))
                    .isBetween(Duration.ofSeconds(30), Duration.ofSeconds(40));
        }
    }
}
