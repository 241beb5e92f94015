package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.ratelimit.Decision;
import dev.ratelimit.Limits;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** On PostgreSQL the time is the database's, whatever the clocks of the processes say. */
@Timeout(60)
class ProcessClocksTest {

    private static final Duration WAIT = Duration.ofMinutes(10);

    private final TestPostgres postgres = TestPostgres.instance();
    private final String schema = postgres.freshSchema();

    /** The answer of a process to one request. */
    private record Said(String outcome, Duration retryAfter, Instant at, Instant ownClock) {

        static Said by(LimiterChild child) throws Exception {
            child.signal();
            String[] words = child.line().split(" ");
            return new Said(words[0], Duration.parse(words[1]), Instant.parse(words[2]), Instant.parse(words[3]));
        }
    }

    @Test
    void processesWhoseClocksAreHoursApartShareALimitAsIfTheyWereNot() throws Exception {
        Optional<Path> faketime = libfaketime();
        Assumptions.assumeTrue(
                faketime.isPresent(), "libfaketime is not installed here, so no process can have another clock");
        Schema.migrate(postgres.dataSource(), schema);
        String library = faketime.orElseThrow().toString();

        try (LimiterChild ahead = LimiterChild.start(
                        Map.of("LD_PRELOAD", library, "FAKETIME", "+1h"),
                        "postgresql",
                        postgres.jdbcUrl(),
                        schema,
                        "on-demand");
                LimiterChild behind = LimiterChild.start(
                        Map.of("LD_PRELOAD", library, "FAKETIME", "-1h"),
                        "postgresql",
                        postgres.jdbcUrl(),
                        schema,
                        "on-demand")) {
            assertThat(ahead.line()).isEqualTo("ready");
            assertThat(behind.line()).isEqualTo("ready");
            for (int i = 0; i < 5; i++) {
                Said said = Said.by(i % 2 == 0 ? ahead : behind);
                assertThat(said.outcome()).isEqualTo("ALLOWED");
            }
            for (LimiterChild child : List.of(ahead, behind, ahead)) {
                Said said = Said.by(child);
                // An hour of either clock would have brought six more.
                assertThat(said.outcome()).isEqualTo("THROTTLED");
                assertThat(said.retryAfter()).isBetween(WAIT.minusSeconds(50), WAIT);
                assertThat(said.at()).isCloseTo(Instant.now(), within(60, ChronoUnit.SECONDS));
                assertThat(Duration.between(said.at(), said.ownClock()).abs())
                        .as("how far the clock of the process is off")
                        .isCloseTo(Duration.ofHours(1), Duration.ofSeconds(60));
            }
        }
    }

    private static Optional<Path> libfaketime() {
        return List.of(
                        "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
                        "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
                        "/usr/lib64/faketime/libfaketimeMT.so.1",
                        "/usr/lib/faketime/libfaketimeMT.so.1")
                .stream()
                .map(Path::of)
                .filter(Files::exists)
                .findFirst();
    }

    /**
     * The other way round, which needs nothing but the database: its clock goes an hour ahead, since a function of that
     * name is found before the built-in one, and this process follows.
     */
    @Test
    void decisionsFollowTheClockOfTheDatabaseAndNotThatOfTheProcess() throws Exception {
        Schema.migrate(postgres.dataSource(), schema);
        String ahead = schema + "_ahead";
        try (Connection connection = postgres.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA " + ahead);
            statement.execute(
                    "CREATE FUNCTION " + ahead + ".clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE"
                            + " AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$");
        }
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(postgres.jdbcUrl());
        dataSource.setOptions("-c search_path=" + ahead + ",pg_catalog");

        try (PostgresLimitStore store = new PostgresLimitStore(postgres.dataSource(), schema);
                StoreRateLimiter limiter =
                        StoreRateLimiter.builder(store, Limits.of()).build();
                PostgresLimitStore storeAhead = new PostgresLimitStore(dataSource, schema);
                StoreRateLimiter limiterAhead =
                        StoreRateLimiter.builder(storeAhead, Limits.of()).build()) {
            for (int i = 0; i < 5; i++) {
                assertThat(limiter.decide(LimiterProcess.SUBJECT, LimiterProcess.SLOW)
                                .allowed())
                        .isTrue();
            }
            Decision denied = limiter.decide(LimiterProcess.SUBJECT, LimiterProcess.SLOW);
            assertThat(denied.allowed()).isFalse();
            assertThat(denied.at()).isCloseTo(Instant.now(), within(60, ChronoUnit.SECONDS));

            Decision later = limiterAhead.decide(LimiterProcess.SUBJECT, LimiterProcess.SLOW);

            assertThat(later.allowed()).isTrue();
            assertThat(later.at()).isCloseTo(Instant.now().plusSeconds(3600), within(60, ChronoUnit.SECONDS));
            assertThat(later.limits().get(0).resetAt()).isAfter(later.at());
            // An hour brought five, as many as the bucket holds, of which one is taken.
            assertThat(later.remaining()).isEqualTo(4);
        }
    }
}
