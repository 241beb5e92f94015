package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.audit.AuditDatabase;
import dev.ratelimit.audit.AuditMode;
import dev.ratelimit.audit.AuditSettings;
import dev.ratelimit.audit.CacheUse;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.connection.PostgresSource;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * A server that is frozen, as in a paused virtual machine: it neither answers nor closes its connections. The bounds on times
 * are wide; without the fixes that they test, threads wait for good.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FrozenPostgresTest {

    private static final Duration SOON = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    private StoppablePostgres server;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @BeforeEach
    void start() {
        server = new StoppablePostgres(folder.resolve("data"));
        server.start();
    }

    @AfterEach
    void stop() {
        server.resume();
        server.close();
    }

    private ConfigurableApplicationContext application() {
        SpringApplication spring = new SpringApplication(Application.class);
        spring.setWebApplicationType(WebApplicationType.NONE);
        return spring.run(
                "--spring.main.banner-mode=off",
                "--spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "--ratelimit.store.type=postgresql",
                "--ratelimit.store.postgresql.url=" + server.jdbcUrl(),
                "--ratelimit.store.deadline=1s",
                "--ratelimit.monitoring.penalties-interval=1s",
                "--ratelimit.limits.login.algorithm=fixed-window",
                "--ratelimit.limits.login.max-requests=1",
                "--ratelimit.limits.login.window=1h");
    }

    @Test
    void aQueryFailsOnceTheServerWasSilentForTooLong() throws Exception {
        try (LimiterConnections connections =
                new PostgresSource.Address(server.jdbcUrl(), null, null).open("frozen", 1, 1)) {
            connections.setLongestSilence(Duration.ofSeconds(2));
            try (Connection connection = connections.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("SELECT 1");
                server.pause();

                assertThatThrownBy(() -> statement.execute("SELECT 2")).isInstanceOf(SQLException.class);
            }
        }
    }

    @Test
    void closingReturnsWhileTheServerIsFrozen() throws Exception {
        ConfigurableApplicationContext application = application();
        try (Connection other = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE ratelimit.rate_limit_penalties IN ACCESS EXCLUSIVE MODE");
            awaitThread("ratelimit-monitor");
            server.pause();

            CompletableFuture<Void> closing = CompletableFuture.runAsync(application::close);

            closing.get(120, TimeUnit.SECONDS);
            assertThat(application.isActive()).isFalse();
            server.resume();
        }
    }

    /** Until the thread reads from the socket, where nothing interrupts it. */
    private static void awaitThread(String name) {
        Awaitility.await()
                .atMost(SOON)
                .until(() -> Thread.getAllStackTraces().entrySet().stream()
                        .filter(thread -> thread.getKey().getName().equals(name))
                        .flatMap(thread -> Arrays.stream(thread.getValue()))
                        .anyMatch(frame -> frame.getClassName().startsWith("org.postgresql.core")));
    }

    /** With a shorter bound than that of an application, which {@code PostgresDatabaseTest} shows. */
    @Test
    void theAuditTrailGoesOnAfterwards() throws Exception {
        PostgresSource source = new PostgresSource.Address(server.jdbcUrl(), null, null);
        Limit login = Limit.named("login")
                .algorithm(new FixedWindow(1, Duration.ofHours(1)))
                .build();
        try (LimiterConnections connections = source.open("audit", 0, 2)) {
            Schema.migrate(connections, "ratelimit");
            connections.setLongestWait(Duration.ofSeconds(1));
            connections.setLongestSilence(Duration.ofSeconds(2));
            RequestAudit audit = new RequestAudit(
                    AuditDatabase.postgres(connections, "ratelimit"),
                    AuditSettings.of(AuditMode.DENIED, new AuditEntry.Origin("frozen", "")),
                    InstantSource.system(),
                    CacheUse.NONE);
            StoreRateLimiter limiter = StoreRateLimiter.builder(new MemoryLimitStore(), Limits.of(login))
                    .listeners(List.of(audit))
                    .build();
            exceed(limiter, "alice");
            awaitEntry(audit, "alice");

            server.pause();
            exceed(limiter, "carol");
            Awaitility.await().atMost(SOON).until(() -> audit.failure() != null);
            server.resume();
            exceed(limiter, "bob");
            awaitEntry(audit, "bob");
            awaitEntry(audit, "carol");
            limiter.close();
            audit.close();
        }
    }

    private static void exceed(RateLimiter limiter, String user) {
        limiter.decide(Subject.user(user), "login");
        assertThat(limiter.decide(Subject.user(user), "login").allowed()).isFalse();
    }

    private static void awaitEntry(RequestAudit audit, String user) {
        AuditQuery query = AuditQuery.since(Instant.EPOCH, 10).ofSubject("user:" + user);
        Awaitility.await()
                .atMost(SOON)
                .ignoreExceptions()
                .until(() -> !audit.reports().entries(query).isEmpty());
    }
}
