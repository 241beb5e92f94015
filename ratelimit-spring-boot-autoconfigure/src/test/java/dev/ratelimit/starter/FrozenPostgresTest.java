package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.connection.PostgresSource;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * A server that is frozen, as in a paused virtual machine: it neither answers nor closes its connections. The bounds on times
 * are wide; without the fixes that they test, threads wait for good.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ExtendWith(OutputCaptureExtension.class)
class FrozenPostgresTest {

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
                "--ratelimit.audit.interval=100ms",
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
                .atMost(Duration.ofSeconds(60))
                .until(() -> Thread.getAllStackTraces().entrySet().stream()
                        .filter(thread -> thread.getKey().getName().equals(name))
                        .flatMap(thread -> Arrays.stream(thread.getValue()))
                        .anyMatch(frame -> frame.getClassName().startsWith("org.postgresql.core")));
    }

    @Test
    void theAuditTrailGoesOnAfterwards(CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext application = application()) {
            exceed(application, "alice");
            RequestAudit audit = application.getBean(RequestAudit.class);
            awaitEntry(audit, "alice");

            server.pause();
            Awaitility.await().atMost(Duration.ofSeconds(120)).until(() -> {
                exceed(application, "carol"); // decided locally, so that there is something to write
                return output.getOut().contains("Could not write the audit trail");
            });
            server.resume();
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> exceed(application, "bob"));
            awaitEntry(audit, "bob");
        }
    }

    /** Whether the store denied the last request; before, on-failure may have decided. */
    private static boolean exceed(ConfigurableApplicationContext application, String user) {
        RateLimiter limiter = application.getBean(RateLimiter.class);
        limiter.decide(Subject.user(user), "login");
        return !limiter.decide(Subject.user(user), "login").allowed();
    }

    private static void awaitEntry(RequestAudit audit, String user) {
        AuditQuery query = AuditQuery.since(Instant.EPOCH, 10).ofSubject("user:" + user);
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .ignoreExceptions()
                .until(() -> !audit.reports().entries(query).isEmpty());
    }
}
