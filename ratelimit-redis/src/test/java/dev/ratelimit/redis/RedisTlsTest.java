package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.testing.tls.SelfSignedKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Redis behind TLS, with the SSL bundle and the user of the application. */
class RedisTlsTest {

    @TempDir
    Path folder;

    private RunningRedis redis;
    private TlsRelay relay;
    private SelfSignedKey keys;

    @BeforeEach
    void start() throws Exception {
        keys = SelfSignedKey.create(folder);
        redis = RunningRedis.start("user default off", "user shop on >secret ~* +@all");
        relay = TlsRelay.start(keys, redis.port());
    }

    @AfterEach
    void stop() throws Exception {
        relay.close();
        redis.close();
    }

    private WebApplicationContextRunner application(String... properties) {
        return Application.with(
                        folder,
                        "spring.data.redis.host=localhost",
                        "spring.data.redis.port=" + relay.port(),
                        "spring.data.redis.username=shop",
                        "spring.data.redis.password=secret",
                        "ratelimit.store.type=redis")
                .withPropertyValues(properties);
    }

    /** Trusts the certificates of a key store, as an application says it. */
    private static String[] bundle(SelfSignedKey trusted) {
        return new String[] {
            "spring.ssl.bundle.jks.redis.truststore.location=file:" + trusted.keyStore(),
            "spring.ssl.bundle.jks.redis.truststore.password=" + SelfSignedKey.PASSWORD,
            "spring.ssl.bundle.jks.redis.truststore.type=PKCS12",
            "spring.data.redis.ssl.bundle=redis"
        };
    }

    private static long remaining(ApplicationContext context) {
        return context.getBean(RateLimiter.class)
                .decide(Subject.user("alice"), "calls")
                .remaining();
    }

    @Test
    void instancesDecideThroughTheBundleWithUserAndPassword() {
        application(bundle(keys)).run(one -> {
            assertThat(one).hasNotFailed();
            assertThat(remaining(one)).isEqualTo(9);
            application(bundle(keys)).run(two -> assertThat(remaining(two)).isEqualTo(8));
        });
        assertThat(relay.handshakes()).as("connections over TLS").isPositive();
    }

    @Test
    void wrongPasswordOverTlsIsReportedAsSuch() {
        application(bundle(keys))
                .withPropertyValues("spring.data.redis.password=wrong")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("refuses the user or the password"));
    }

    private static FailureAnalysis analysis(WebApplicationContextRunner application) {
        AtomicReference<FailureAnalysis> analysis = new AtomicReference<>();
        application.run(context ->
                analysis.set(new RedisFailureAnalyzer().analyze(Objects.requireNonNull(context.getStartupFailure()))));
        return Objects.requireNonNull(analysis.get());
    }

    @Test
    void untrustedCertificateStopsTheStart() throws Exception {
        Path others = Files.createDirectory(folder.resolve("others"));
        FailureAnalysis analysis = analysis(application(bundle(SelfSignedKey.create(others))));
        assertThat(analysis.getDescription()).contains("localhost:" + relay.port() + " cannot be reached with TLS: ");
        assertThat(analysis.getAction()).contains("spring.data.redis.ssl.bundle trust the certificate");
        assertThat(relay.handshakes()).as("nothing was sent").isZero();
    }

    @Test
    void plainConnectionToAServerWithTlsIsExplained() {
        FailureAnalysis analysis = analysis(application());
        assertThat(analysis.getDescription())
                .contains("localhost:" + relay.port() + " answers, but not as Redis does: ");
        assertThat(analysis.getAction()).contains("If the server expects TLS, set spring.data.redis.ssl.bundle");
    }
}
