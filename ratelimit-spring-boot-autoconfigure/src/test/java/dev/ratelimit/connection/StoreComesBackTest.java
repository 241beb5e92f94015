package dev.ratelimit.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.util.Credentials;
import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** A database that was away is used soon after it is back, however long it was away. */
class StoreComesBackTest {

    private static final String SCHEMA = "ratelimit";

    /** HikariCP's pauses have grown to their longest by then: 10 ms, 20 ms, … 5 s. */
    private static final Duration LONG_OUTAGE = Duration.ofSeconds(11);

    private static final Limit CALLS = Limit.named("calls")
            .algorithm(new FixedWindow(1_000_000, Duration.ofDays(365)))
            .build();

    /** Counts the groups that failed. */
    private static final class Watched extends ForwardingLimitStore {

        private final AtomicInteger failures = new AtomicInteger();

        private Watched(LimitStore store) {
            super(store);
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            try {
                return super.decide(group);
            } catch (RuntimeException e) {
                failures.incrementAndGet();
                throw e;
            }
        }
    }

    /**
     * Counted in attempts, two of which are half a second apart: on a busy machine they are slower, and not more. With
     * HikariCP's own pauses it takes up to ten.
     */
    @Test
    void serverThatWasStoppedForLongIsUsedAfterFewAttempts(@TempDir Path folder) {
        try (StoppablePostgres server = new StoppablePostgres(folder)) {
            server.start();
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(server.jdbcUrl());
            config.setMaximumPoolSize(2);
            try (BoundedWaitPool pool = new BoundedWaitPool(config)) {
                Schema.migrate(pool, SCHEMA);
                Duration deadline = Duration.ofMillis(100);
                pool.setDeadline(deadline);
                Watched store = new Watched(new PostgresLimitStore(pool, SCHEMA).withDeadline(deadline));
                try (StoreRateLimiter limiter =
                        StoreRateLimiter.builder(store, Limits.of(CALLS)).build()) {
                    askUntil(limiter, Outcome.ALLOWED);
                    server.stop();
                    askUntil(limiter, Outcome.FAILED);
                    askFor(limiter, LONG_OUTAGE);
                    server.start();
                    store.failures.set(0);
                    askUntil(limiter, Outcome.ALLOWED);

                    assertThat(store.failures.get()).isLessThanOrEqualTo(3);
                }
            }
        }
    }

    private static Decision ask(StoreRateLimiter limiter) {
        return limiter.decide(LimitRequest.of(Subject.user("alice"), "calls").onFailure(FailurePolicy.CLOSED));
    }

    private static void askUntil(StoreRateLimiter limiter, Outcome outcome) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> ask(limiter).outcome() == outcome);
    }

    private static void askFor(StoreRateLimiter limiter, Duration time) {
        long end = System.nanoTime() + time.toNanos();
        Awaitility.await()
                .atMost(time.multipliedBy(5))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> ask(limiter).outcome() == Outcome.ALLOWED || System.nanoTime() - end >= 0);
    }

    /** The driver gives up such an attempt after ten seconds. */
    @Test
    void attemptThatHangsDoesNotKeepTheNextOneWaiting() throws Exception {
        try (Wire wire = new Wire()) {
            PGSimpleDataSource driver = new PGSimpleDataSource();
            driver.setURL(wire.jdbcUrl());
            ReconnectingDataSource database = new ReconnectingDataSource(driver);
            database.keepTrying();
            wire.fallSilent();
            CompletableFuture<Boolean> connected = CompletableFuture.supplyAsync(() -> {
                try (Connection connection = database.getConnection()) {
                    return connection.isValid(30);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            Awaitility.await().until(() -> wire.connections() > 0);
            wire.speakAgain(); // the bytes of the first attempt are lost: it never ends

            assertThat(connected.get(1, TimeUnit.MINUTES)).isTrue();
            assertThat(wire.connections()).isGreaterThan(1);
        }
    }

    @Test
    void beforeItRunsAFailureIsReportedAtOnce() throws Exception {
        Wire wire = new Wire();
        PGSimpleDataSource driver = new PGSimpleDataSource();
        driver.setURL(wire.jdbcUrl());
        wire.close();

        assertThatThrownBy(() -> new ReconnectingDataSource(driver).getConnection())
                .isInstanceOf(SQLException.class);
    }

    @Test
    void silentDatabaseDoesNotKeepTheStartForEver() throws Exception {
        try (Wire wire = new Wire()) {
            PGSimpleDataSource driver = new PGSimpleDataSource();
            driver.setURL(wire.jdbcUrl());
            wire.fallSilent();

            assertThatThrownBy(() -> new ReconnectingDataSource(driver)
                            .connect(Credentials.of(null, null), Duration.ofMillis(300)))
                    .isInstanceOf(SQLException.class)
                    .hasMessage("the database does not answer");
        }
    }

    @Test
    void wrongUserIsReportedAtOnce() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl().replaceAll("\\?.*", ""));
        ReconnectingDataSource database = ReconnectingDataSource.of(config);
        database.keepTrying();

        assertThatThrownBy(() -> database.getConnection("nobody", "wrong"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("nobody");
    }
}
