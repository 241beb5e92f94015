package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.connection.TransactionPooler;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** Behind a real PgBouncer in transaction mode, which knows nothing of prepared statements. */
@ExtendWith(OutputCaptureExtension.class)
class PgBouncerTest {

    private static final String NOTICE =
            "Found PostgreSQL behind a transaction pooler (ratelimit.store.postgresql.pooler: auto)";

    private static final int LIMIT = 100;

    @TempDir
    private static Path folder;

    private static PgBouncer pooler;

    @BeforeAll
    static void start() throws Exception {
        pooler = new PgBouncer("transaction", folder);
    }

    @AfterAll
    static void stop() {
        if (pooler != null) {
            pooler.close();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class})
    static class Application {}

    private static ConfigurableApplicationContext start(String schema, DataSource dataSource) {
        SpringApplication spring = new SpringApplication(Application.class);
        spring.setWebApplicationType(WebApplicationType.NONE);
        spring.addInitializers(
                context -> ((GenericApplicationContext) context).registerBean(DataSource.class, () -> dataSource));
        return spring.run(
                "--spring.main.banner-mode=off",
                "--ratelimit.store.postgresql.schema=" + schema,
                "--ratelimit.store.deadline=10s",
                "--ratelimit.changes.poll-interval=50ms",
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=" + LIMIT,
                "--ratelimit.limits.calls.window=3660d",
                "--ratelimit.limits.strict.algorithm=token-bucket",
                "--ratelimit.limits.strict.burst=1",
                "--ratelimit.limits.strict.refill=1/d",
                "--ratelimit.limits.strict.penalties[0].after=1",
                "--ratelimit.limits.strict.penalties[0].block=1d");
    }

    static Stream<Named<Supplier<DataSource>>> pools() {
        return Stream.of(Named.of("HikariCP", PgBouncerTest::hikari), Named.of("DBCP", PgBouncerTest::dbcp));
    }

    private static HikariDataSource hikari() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(pooler.jdbcUrl());
        pool.setMaximumPoolSize(2);
        return pool;
    }

    private static BasicDataSource dbcp() {
        BasicDataSource pool = new BasicDataSource();
        pool.setUrl(pooler.jdbcUrl());
        pool.setAccessToUnderlyingConnectionAllowed(true);
        pool.addConnectionProperty("prepareThreshold", "0"); // as the application itself needs it
        return pool;
    }

    @ParameterizedTest
    @MethodSource("pools")
    void severalStartsInARowWork(Supplier<DataSource> pool, CapturedOutput output) throws Exception {
        String schema = TestPostgres.instance().freshSchema();
        int starts = 5;
        for (int i = 1; i <= starts; i++) {
            try (ConfigurableApplicationContext application = start(schema, pool.get())) {
                RateLimiter limiter = application.getBean(RateLimiter.class);
                for (int j = 0; j < 8; j++) {
                    assertThat(decide(limiter, "alice", "calls").outcome()).isEqualTo(Outcome.ALLOWED);
                }
                assertThat(decide(limiter, "bob" + i, "strict").outcome()).isEqualTo(Outcome.ALLOWED);
                assertThat(decide(limiter, "bob" + i, "strict").outcome()).isEqualTo(Outcome.THROTTLED);
                assertThat(decide(limiter, "bob" + i, "strict").outcome()).isEqualTo(Outcome.BLOCKED);
                assertThat(decide(limiter, "alice", "calls").remaining()).isEqualTo(LIMIT - 9L * i);
            }
        }
        assertThat(output.getAll().split(Pattern.quote(NOTICE), -1)).hasSize(starts + 1);
        assertNothingIsLeftOnConnections();
    }

    private static Decision decide(RateLimiter limiter, String user, String limit) {
        return limiter.decide(LimitRequest.of(Subject.user(user), limit).onFailure(FailurePolicy.CLOSED));
    }

    private static void assertNothingIsLeftOnConnections() throws SQLException {
        assertThat(pooler.onEachServerConnection("SELECT count(*) FROM pg_prepared_statements"))
                .hasSize(PgBouncer.SERVER_CONNECTIONS)
                .containsOnly("0");
        assertThat(pooler.onEachServerConnection("SELECT pg_listening_channels()"))
                .isEmpty();
        assertThat(pooler.onEachServerConnection("SHOW search_path")).containsOnly("\"$user\", public");
        assertThat(pooler.onEachServerConnection("SHOW lock_timeout")).containsOnly("0");
        assertThat(pooler.onEachServerConnection("SHOW role")).containsOnly("none");
    }

    @Test
    void twoInstancesAdmitExactlyTheLimit() throws Exception {
        String schema = TestPostgres.instance().freshSchema();
        try (ConfigurableApplicationContext first = start(schema, hikari());
                ConfigurableApplicationContext second = start(schema, hikari())) {
            Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
            ExecutorService callers = Executors.newFixedThreadPool(8);
            try {
                List<Future<Decision>> decisions = new ArrayList<>();
                for (int i = 0; i < 3 * LIMIT; i++) {
                    RateLimiter limiter = (i % 2 == 0 ? first : second).getBean(RateLimiter.class);
                    decisions.add(callers.submit(() -> decide(limiter, "carol", "calls")));
                }
                for (Future<Decision> decision : decisions) {
                    outcomes.merge(decision.get().outcome(), 1, Integer::sum);
                }
            } finally {
                callers.shutdown();
            }
            assertThat(outcomes).isEqualTo(Map.of(Outcome.ALLOWED, LIMIT, Outcome.THROTTLED, 2 * LIMIT));
            assertNothingIsLeftOnConnections();
        }
    }

    @Test
    void changesArriveByPolling() throws Exception {
        String schema = TestPostgres.instance().freshSchema();
        try (ConfigurableApplicationContext first = start(schema, hikari());
                ConfigurableApplicationContext second = start(schema, hikari())) {
            Limits others = second.getBean(Limits.class);
            assertThat(others.get("calls").capacity()).isEqualTo(LIMIT);

            for (long capacity = 41; capacity <= 43; capacity++) {
                long expected = capacity;
                first.getBean(RateLimitAdmin.class)
                        .limits()
                        .set(
                                "calls",
                                Map.of(
                                        "max-requests",
                                        Long.toString(capacity),
                                        "algorithm",
                                        "fixed-window",
                                        "window",
                                        "1h"),
                                Change.by("ops"));
                await().until(() -> others.get("calls").capacity() == expected);
            }
            assertNothingIsLeftOnConnections();
        }
    }

    @Test
    void poolerIsRecognisedByWhatItDoes() throws Exception {
        try (BasicDataSource through = dbcp()) {
            assertThat(TransactionPooler.isRuledOut(through)).isFalse();
            assertThat(TransactionPooler.isFound(through)).isTrue();
        }
        assertThat(TransactionPooler.isRuledOut(TestPostgres.instance().dataSource()))
                .isTrue();
        assertThat(TransactionPooler.isFound(TestPostgres.instance().dataSource()))
                .isFalse();
    }

    /** Other clients keep the pooler's connections busy and change their order. */
    @Test
    void poolerIsRecognisedBesideOtherClients() throws Exception {
        try (BasicDataSource through = dbcp();
                Connection other = pooler.connect()) {
            other.setAutoCommit(false);
            assertThat(other.createStatement().execute("SELECT 1")).isTrue();
            assertThat(TransactionPooler.isFound(through)).isTrue();
        }
    }

    @Test
    void poolerByStatementIsRefusedInItsOwnWords(@TempDir Path another, CapturedOutput output) throws Exception {
        try (PgBouncer byStatement = new PgBouncer("statement", another);
                HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(byStatement.jdbcUrl());
            assertThatThrownBy(() -> start(TestPostgres.instance().freshSchema(), pool))
                    .hasStackTraceContaining("PostgreSQL cannot be reached (FATAL: transaction blocks not allowed");
        }
    }

    @Test
    void poolerBySessionIsLikeNone(@TempDir Path another) throws Exception {
        try (PgBouncer bySession = new PgBouncer("session", another);
                BasicDataSource through = new BasicDataSource()) {
            through.setUrl(bySession.jdbcUrl());
            through.setAccessToUnderlyingConnectionAllowed(true);
            assertThat(TransactionPooler.isRuledOut(through)).isFalse();
            assertThat(TransactionPooler.isFound(through)).isFalse();
        }
    }
}
