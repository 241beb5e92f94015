package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** {@code ratelimit.store.postgresql.mode} chooses how decisions keep out of each other's way. */
class PostgresModeTest {

    private static final TestPostgres POSTGRES = TestPostgres.instance();

    private final String schema = POSTGRES.freshSchema();

    private ApplicationContextRunner application(String mode) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.store.type=postgresql",
                        "ratelimit.store.deadline=5s",
                        "ratelimit.store.postgresql.url=" + POSTGRES.jdbcUrl(),
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.store.postgresql.synchronous-commit=off",
                        "ratelimit.store.postgresql.mode=" + mode,
                        "ratelimit.limits.four.algorithm=fixed-window",
                        "ratelimit.limits.four.max-requests=4",
                        "ratelimit.limits.four.window=3650d");
    }

    private static void admits(ApplicationContextRunner application, int times) {
        application.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            for (int i = 0; i < times; i++) {
                assertThat(limiter.decide(Subject.user("alice"), "four").allowed())
                        .isTrue();
            }
        });
    }

    /** Locks count versions one by one; a swap chooses one at random. */
    private long version() throws SQLException {
        try (Connection connection = POSTGRES.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT version FROM " + schema + ".rate_limits WHERE user_id = 'user:alice'")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void modesFollowEachOtherOnTheSameCounts() throws Exception {
        admits(application("lock"), 1);
        long first = version();
        admits(application("lock"), 1);
        assertThat(version()).isEqualTo(first + 1);
        admits(application("swap"), 1);
        assertThat(version()).isNotIn(first + 1, first + 2);
        admits(application("lock"), 1);

        application("swap")
                .run(context -> assertThat(context.getBean(RateLimiter.class)
                                .decide(Subject.user("alice"), "four")
                                .allowed())
                        .isFalse());
    }

    /** Stands in for CockroachDB, which cannot be installed here: a function of the same name tells another version. */
    @Test
    void engineWithoutCheapRowLocksNeedsSwaps() throws Exception {
        assertNeedsSwaps(
                "CREATE FUNCTION {schema}.version() RETURNS text LANGUAGE sql"
                        + " AS $$ SELECT 'CockroachDB CCL v25.1.0' $$",
                "the database is CockroachDB, where row locks are expensive or missing;"
                        + " set ratelimit.store.postgresql.mode to swap");
    }

    /** Stands in for Citus: a table of the same name tells of another extension. */
    @Test
    void extensionThatRefusesTheClockInAWriteNeedsSwaps() throws Exception {
        assertNeedsSwaps(
                "CREATE TABLE {schema}.pg_extension AS SELECT 'citus'::text AS extname",
                "the database is Citus, which refuses the clock in a write; set ratelimit.store.postgresql.mode to"
                        + " swap");
    }

    private void assertNeedsSwaps(String standIn, String message) throws Exception {
        String engine = POSTGRES.freshSchema();
        try (Connection connection = POSTGRES.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA IF NOT EXISTS " + engine);
            statement.execute(standIn.replace("{schema}", engine));
        }
        String url = POSTGRES.jdbcUrl() + "&currentSchema=" + engine + ",pg_catalog";

        application("lock")
                .withPropertyValues("ratelimit.store.postgresql.url=" + url)
                .run(context -> assertThat(context).getFailure().rootCause().hasMessage(message));
        admits(application("swap").withPropertyValues("ratelimit.store.postgresql.url=" + url), 1);
        assertThat(version()).isNotZero();
    }
}
