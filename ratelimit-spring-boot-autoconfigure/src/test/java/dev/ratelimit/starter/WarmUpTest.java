package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.starter.FailingStoreTest.SickStore;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** The first request finds everything ready. */
@ExtendWith(OutputCaptureExtension.class)
class WarmUpTest {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withPropertyValues(
                    "ratelimit.limits.calls.algorithm=token-bucket",
                    "ratelimit.limits.calls.burst=10",
                    "ratelimit.limits.calls.refill=1/h",
                    "ratelimit.limits.logins.algorithm=fixed-window",
                    "ratelimit.limits.logins.max-requests=1",
                    "ratelimit.limits.logins.window=1d",
                    "ratelimit.limits.logins.penalties[0].after=1",
                    "ratelimit.limits.logins.penalties[0].block=1d");

    /** A store that notes what it was asked for. */
    static final class NotingStore extends ForwardingLimitStore {

        private final Set<String> limits = ConcurrentHashMap.newKeySet();
        private final Set<Operation.Kind> kinds = ConcurrentHashMap.newKeySet();
        private final AtomicInteger calls = new AtomicInteger();

        NotingStore() {
            super(new MemoryLimitStore());
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            calls.incrementAndGet();
            for (Operation operation : group) {
                kinds.add(operation.kind());
                operation.demands().forEach(demand -> limits.add(demand.limit().name()));
            }
            return super.decide(group);
        }
    }

    @Test
    void everyWayOfARequestWasTakenOnEveryLimit() {
        application.withBean(NotingStore.class).run(context -> {
            NotingStore store = context.getBean(NotingStore.class);

            assertThat(store.limits).containsExactlyInAnyOrder("calls", "logins");
            // No request violates a limit by itself: a store that moves to another one says so.
            assertThat(store.kinds)
                    .containsExactlyInAnyOrderElementsOf(EnumSet.complementOf(EnumSet.of(Operation.Kind.VIOLATE)));
        });
    }

    @Test
    void allConnectionsAreOpenAndNoStateStaysBehind() {
        String schema = TestPostgres.instance().freshSchema();
        String known = TestPostgres.instance().jdbcUrl();
        String url = known + (known.contains("?") ? "&" : "?") + "ApplicationName=" + schema;
        application
                .withPropertyValues(
                        "ratelimit.store.postgresql.url=" + url,
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.store.postgresql.pool-size=3")
                .run(context -> {
                    assertThat(context).hasSingleBean(LimitStore.class);
                    assertThat(rows(schema, "rate_limits WHERE algorithm <> '' OR expires_at <> 0"))
                            .isZero();
                    assertThat(rows(schema, "rate_limit_penalties")).isZero();
                    assertThat(connections(schema)).isEqualTo(3);
                });
    }

    /** A store whose first calls fail, as those of a cold process that miss their deadline. */
    static final class ColdStore extends ForwardingLimitStore {

        private static final int FAILURES = 5;

        private final AtomicInteger calls = new AtomicInteger();

        ColdStore() {
            super(new MemoryLimitStore());
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            if (calls.incrementAndGet() <= FAILURES) {
                throw new LimitStoreException("no answer in time", new TimeoutException());
            }
            return super.decide(group);
        }
    }

    /** No request was concerned. */
    @Test
    void callsThatFailWhileTheStoreIsColdAreNotReportedAsAnOutage(CapturedOutput output) {
        application.withBean(ColdStore.class).run(context -> {
            ColdStore store = context.getBean(ColdStore.class);

            assertThat(store.calls).hasValueGreaterThan(ColdStore.FAILURES);
            assertThat(output).doesNotContain("Store unavailable");
        });
    }

    private static long rows(String schema, String table) throws SQLException {
        return number("SELECT count(*) FROM \"" + schema + "\"." + table);
    }

    private static long connections(String application) throws SQLException {
        return number("SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + application + "'");
    }

    private static long number(String query) throws SQLException {
        try (Connection connection = TestPostgres.instance().dataSource().getConnection()) {
            return number(connection, query);
        }
    }

    private static long number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void sqliteFileIsLeftWithoutRows(@TempDir Path folder) {
        Path file = folder.resolve("ratelimit.db");
        application.withPropertyValues("ratelimit.store.sqlite.path=" + file).run(context -> {
            assertThat(context).hasSingleBean(LimitStore.class);
            try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
                assertThat(number(connection, "SELECT count(*) FROM rate_limits"))
                        .isZero();
                assertThat(number(connection, "SELECT count(*) FROM rate_limit_penalties"))
                        .isZero();
            }
        });
    }

    /** Notes how much the store was asked for until the port was open. */
    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Opening {

        private final AtomicInteger before = new AtomicInteger();

        @Bean
        NotingStore store() {
            return new NotingStore();
        }

        @EventListener
        void opened(WebServerInitializedEvent event) {
            before.set(event.getApplicationContext()
                    .getBean(NotingStore.class)
                    .calls
                    .get());
        }
    }

    @Test
    void itIsDoneWhenThePortIsOpen() {
        try (RunningApplication running = RunningApplication.start(
                List.of(Opening.class),
                "ratelimit.limits.calls.algorithm=token-bucket",
                "ratelimit.limits.calls.burst=10",
                "ratelimit.limits.calls.refill=1/h")) {
            assertThat(running.bean(Opening.class).before)
                    .hasPositiveValue()
                    .hasValue(running.bean(NotingStore.class).calls.get());
        }
    }

    /** Would wait for ever. */
    @Test
    @Timeout(60)
    void storeThatHangsDoesNotHoldUpTheStart() {
        CountDownLatch stall = new CountDownLatch(1);
        try {
            application
                    .withBean(SickStore.class, () -> {
                        SickStore sick = new SickStore();
                        sick.stall = stall;
                        return sick;
                    })
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(stall.getCount()).isEqualTo(1);
                        stall.countDown();
                    });
        } finally {
            stall.countDown();
        }
    }

    /** A store that fails at the start has stopped it already; one that fails now does not. */
    @Test
    void storeThatFailsDoesNotStopTheStart() {
        application
                .withBean(SickStore.class, () -> {
                    SickStore sick = new SickStore();
                    sick.failing = true;
                    return sick;
                })
                .run(context -> assertThat(context).hasNotFailed());
    }
}
