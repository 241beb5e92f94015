package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** A database that is back is used within a second, however long it was away, with own connections and borrowed ones. */
@Timeout(300)
class RecoveryLagTest {

    private static final Logger log = LoggerFactory.getLogger(RecoveryLagTest.class);

    /** Required is one second. The rest is for a machine with other work: HikariCP would pause for up to five. */
    private static final Duration LONGEST = Duration.ofSeconds(2);

    private static final Duration SOON = Duration.ofMinutes(1);

    private static final List<Caller> CALLERS = new ArrayList<>();

    private static StoppablePostgres server;

    /** Asks an application all the time, and notes the first answer of the store after an outage. */
    private static final class Caller implements AutoCloseable {

        private final String name;
        private final ConfigurableApplicationContext application;
        private final Thread thread = new Thread(this::run, "caller");
        private volatile boolean closed;
        private volatile boolean answers;
        private volatile long firstAnswer;

        private Caller(String name, ConfigurableApplicationContext application) {
            this.name = name;
            this.application = application;
            thread.start();
        }

        private void run() {
            RateLimiter limiter = application.getBean(RateLimiter.class);
            LimitRequest request = LimitRequest.of(Subject.user(name), "calls").onFailure(FailurePolicy.CLOSED);
            while (!closed) {
                answers = limiter.decide(request).outcome() == Outcome.ALLOWED;
                if (answers && firstAnswer == 0) {
                    firstAnswer = System.nanoTime();
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }

        @Override
        public void close() throws InterruptedException {
            closed = true;
            thread.join();
            application.close();
        }
    }

    @BeforeAll
    static void start(@TempDir Path folder) {
        server = new StoppablePostgres(folder);
        server.start();
        CALLERS.add(new Caller("own", application(null)));
        CALLERS.add(new Caller("own, like those of the application", application(hikari())));
        CALLERS.add(new Caller("own, like those behind a wrapper", application(hidden(hikari()))));
        CALLERS.add(new Caller("borrowed", application(dbcp())));
    }

    private static DataSource hikari() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(server.jdbcUrl());
        return pool;
    }

    /** Shows nothing of the pool but its connections. */
    private static DataSource hidden(DataSource pool) {
        return new AbstractDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                return pool.getConnection();
            }

            @Override
            public Connection getConnection(String username, String password) throws SQLException {
                return pool.getConnection(username, password);
            }
        };
    }

    private static DataSource dbcp() {
        BasicDataSource pool = new BasicDataSource();
        pool.setUrl(server.jdbcUrl());
        return pool;
    }

    /**
     * @param dataSource that of the application; none if the limiter knows the address of the database
     */
    private static ConfigurableApplicationContext application(DataSource dataSource) {
        return new SpringApplicationBuilder(RateLimitAutoConfiguration.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> {
                    if (dataSource != null) {
                        ((GenericApplicationContext) context).registerBean(DataSource.class, () -> dataSource);
                    }
                })
                .run(
                        "--spring.main.banner-mode=off",
                        dataSource == null ? "--ratelimit.store.postgresql.url=" + server.jdbcUrl() : "--unused=x",
                        "--ratelimit.limits.calls.algorithm=fixed-window",
                        "--ratelimit.limits.calls.max-requests=1000000",
                        "--ratelimit.limits.calls.window=3660d");
    }

    @AfterAll
    static void stop() throws InterruptedException {
        for (Caller caller : CALLERS) {
            caller.close();
        }
        server.close();
    }

    /** In seconds. */
    private static LongStream outages() {
        return Stream.of(System.getProperty("recovery.outages", "5").split(",")).mapToLong(Long::parseLong);
    }

    /**
     * A busy machine may be late, but hardly after two outages. The pauses of a pool are there after each: HikariCP tries again
     * 5.1, 10.1, 15.1 … seconds after the last success. Nothing here depends on the length of an outage: {@code BreakerTest} and
     * {@code StoreComesBackTest} show that no pause grows.
     */
    @ParameterizedTest
    @MethodSource("outages")
    void databaseThatIsBackIsUsedSoon(long seconds) throws Exception {
        Duration lag = lagAfter(Duration.ofSeconds(seconds));
        if (lag.compareTo(LONGEST) > 0) {
            lag = lagAfter(Duration.ofSeconds(seconds));
        }
        assertThat(lag).isLessThanOrEqualTo(LONGEST);
    }

    /** The longest time of all callers from the first connection that the server accepts to the next answer of the store. */
    private static Duration lagAfter(Duration outage) throws Exception {
        awaitAll(caller -> caller.answers);
        server.stop();
        awaitAll(caller -> !caller.answers);
        CALLERS.forEach(caller -> caller.firstAnswer = 0);
        Thread.sleep(outage.toMillis());

        CompletableFuture<Long> accepting = CompletableFuture.supplyAsync(RecoveryLagTest::awaitConnection);
        server.start();
        long acceptedAt = accepting.get(1, TimeUnit.MINUTES);
        awaitAll(caller -> caller.firstAnswer != 0);

        Map<String, Duration> lags = new TreeMap<>();
        for (Caller caller : CALLERS) {
            lags.put(caller.name, Duration.ofNanos(caller.firstAnswer - acceptedAt));
        }
        log.info("After an outage of {} s, the store decided again after {}", outage.toSeconds(), lags);
        return Collections.max(lags.values());
    }

    private static void awaitAll(Predicate<Caller> condition) {
        Awaitility.await()
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> CALLERS.stream().allMatch(condition));
    }

    /** Connects without any pool. */
    private static long awaitConnection() {
        while (true) {
            long start = System.nanoTime();
            try (Connection connection = DriverManager.getConnection(server.jdbcUrl())) {
                log.debug("Connected: {}", connection);
                return start;
            } catch (SQLException e) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }
    }
}
