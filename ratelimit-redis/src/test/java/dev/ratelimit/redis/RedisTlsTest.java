package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.testing.tls.SelfSignedKey;
import io.lettuce.core.cluster.SlotHash;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Redis behind TLS, with the SSL bundle and the user of the application. */
class RedisTlsTest {

    @TempDir
    static Path keyFolder;

    private static SelfSignedKey keys;
    private static RunningRedis redis;

    @TempDir
    Path folder;

    private TlsRelay relay;

    @BeforeAll
    static void startServer() throws Exception {
        keys = SelfSignedKey.create(keyFolder);
        redis = RunningRedis.start("user default off", "user shop on >secret ~* +@all");
    }

    @AfterAll
    static void stopServer() throws Exception {
        redis.close();
    }

    @BeforeEach
    void start() throws Exception {
        relay = TlsRelay.start(keys, redis.port());
    }

    @AfterEach
    void stop() throws Exception {
        relay.close();
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

    /** The nodes are those that the cluster names, so their names must be those of the certificate. */
    @Test
    void clusterDecidesThroughTheBundle() throws Exception {
        int port = Ports.free();
        try (TlsRelay front = TlsRelay.start(keys, port);
                RunningRedis node = RunningRedis.start(
                        port,
                        "cluster-enabled yes",
                        "cluster-config-file nodes-" + port + ".conf",
                        "cluster-announce-ip 127.0.0.1",
                        "cluster-announce-port " + front.port())) {
            int[] slots = IntStream.range(0, SlotHash.SLOT_COUNT).toArray();
            String unused = node.ask(commands -> commands.clusterAddSlots(slots));
            await().until(() -> node.ask(commands -> commands.clusterInfo()).contains("cluster_state:ok"));
            Application.with(
                            folder,
                            "spring.data.redis.cluster.nodes=localhost:" + front.port(),
                            "ratelimit.store.type=redis")
                    .withPropertyValues(bundle(keys))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(remaining(context)).isEqualTo(9);
                    });
            assertThat(node.keys()).hasSize(1);
            assertThat(front.handshakes()).as("connections over TLS").isPositive();
        }
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
