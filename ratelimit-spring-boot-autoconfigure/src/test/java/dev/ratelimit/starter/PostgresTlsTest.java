package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import dev.ratelimit.startup.StoreFailureAnalyzer;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import dev.ratelimit.testing.tls.SelfSignedKey;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The limiter's connections trust the certificates that those of the application trust, and no others. */
class PostgresTlsTest {

    @TempDir
    private static Path folder;

    private static StoppablePostgres server;
    private static Path certificate;

    @BeforeAll
    static void start() throws Exception {
        SelfSignedKey key = SelfSignedKey.create(folder);
        certificate = key.certificate();
        server = new StoppablePostgres(folder.resolve("data"));
        server.set("ssl", "on");
        server.set("ssl_cert_file", certificate.toString());
        server.set("ssl_key_file", key.privateKey().toString());
        server.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static ApplicationContextRunner application(Path trusted) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class,
                        RateLimitAutoConfiguration.class,
                        RateLimitPolicyAutoConfiguration.class))
                .withPropertyValues(
                        "spring.datasource.url=" + server.jdbcUrl(),
                        "spring.datasource.hikari.data-source-properties.sslmode=verify-ca",
                        "spring.datasource.hikari.data-source-properties.sslrootcert=" + trusted,
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.calls.algorithm=fixed-window",
                        "ratelimit.limits.calls.max-requests=10",
                        "ratelimit.limits.calls.window=3660d");
    }

    private static long connections(String condition) {
        Long count = new JdbcTemplate(new DriverManagerDataSource(server.jdbcUrl()))
                .queryForObject(
                        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
                                + " WHERE application_name = 'ratelimit' AND " + condition,
                        Long.class);
        return count == null ? 0 : count;
    }

    @Test
    void connectionsOfTheLimiterUseTls() {
        application(certificate).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(RateLimiter.class)
                            .decide(Subject.user("alice"), "calls")
                            .outcome())
                    .isEqualTo(Outcome.ALLOWED);
            assertThat(connections("ssl")).isPositive();
            assertThat(connections("NOT ssl")).isZero();
        });
    }

    /** The driver would otherwise use TLS without looking at the certificate. */
    @Test
    void certificateThatTheApplicationDoesNotTrustStopsTheStart() throws Exception {
        Path other = SelfSignedKey.create(Files.createDirectory(folder.resolve("other")))
                .certificate();
        application(other).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new StoreFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .startsWith("The rate limit store cannot be opened: PostgreSQL cannot be reached (SSL error: ");
            assertThat(analysis.getAction())
                    .startsWith("Check the TLS settings of the driver")
                    .contains("sslrootcert", "the properties of your DataSource", "ratelimit.store.postgresql.url");
        });
        assertThat(connections("true")).isZero();
    }
}
