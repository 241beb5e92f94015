package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import dev.ratelimit.setting.InvalidPropertyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Mistakes that stop the startup, and what the failure analysis says. */
@ExtendWith(OutputCaptureExtension.class)
class StartupRefusalTest {

    @TempDir
    Path folder;

    /** The analysis that Spring Boot would print: the first that an analyzer gives, in their order. */
    private static FailureAnalysis analysis(WebApplicationContextRunner application) {
        FailureAnalysis[] found = new FailureAnalysis[1];
        application.run(context -> {
            Throwable failure = context.getStartupFailure();
            assertThat(failure).as("failure of the start").isNotNull();
            List<FailureAnalyzer> analyzers = SpringFactoriesLoader.forDefaultResourceLocation()
                    .load(
                            FailureAnalyzer.class,
                            ArgumentResolver.of(BeanFactory.class, new DefaultListableBeanFactory())
                                    .and(Environment.class, new StandardEnvironment()),
                            FailureHandler.logging(LogFactory.getLog(StartupRefusalTest.class)));
            found[0] = analyzers.stream()
                    .map(analyzer -> analyzer.analyze(failure))
                    .filter(analysis -> analysis != null)
                    .findFirst()
                    .orElseThrow();
        });
        return found[0];
    }

    private static void assertSays(FailureAnalysis analysis, String description, String action) {
        assertThat(analysis.getDescription()).contains(description);
        assertThat(analysis.getAction()).contains(action);
    }

    @Test
    void unreachable() {
        int port = Ports.free();
        FailureAnalysis analysis = analysis(Application.with(folder, "spring.data.redis.port=" + port));
        assertSays(
                analysis,
                "The rate limit store cannot be opened: Redis at localhost:" + port
                        + " is unreachable: Connection refused",
                "Start Redis, or correct the address under spring.data.redis");
        assertThat(analysis.getAction()).contains("ratelimit.store.required: false");
    }

    @Test
    void serverThatIsNoSentinel() throws IOException {
        try (RunningRedis redis = RunningRedis.start()) {
            FailureAnalysis analysis = analysis(Application.with(
                    folder,
                    "spring.data.redis.sentinel.master=mymaster",
                    "spring.data.redis.sentinel.nodes=localhost:" + redis.port()));
            assertSays(
                    analysis,
                    "the Redis master mymaster of the Sentinels at localhost:" + redis.port()
                            + " cannot be found: a server in spring.data.redis.sentinel.nodes is no Sentinel.",
                    "Write the addresses of the Sentinels");
        }
    }

    /** Errors that pass: they come from within the script, which a server before 7.0 says first. */
    @ParameterizedTest
    @ValueSource(strings = {"replicaof localhost 1", "min-replicas-to-write 1", "maxmemory 1"})
    void serverThatTakesNoWritesNow(String setting) throws IOException {
        try (RunningRedis redis = RunningRedis.start(setting)) {
            FailureAnalysis analysis = analysis(Application.with(folder, redis.properties()));
            assertSays(
                    analysis,
                    "Redis at localhost:" + redis.port() + " answers, but takes no counts now: ",
                    "Wait until it is a master that takes writes, or correct the address under spring.data.redis.");
            assertThat(analysis.getAction()).contains("ratelimit.store.required: false");
            assertThat(analysis.getDescription()).containsAnyOf("READONLY", "NOREPLICAS", "OOM");
            assertThat(analysis.getDescription()).doesNotContain("..").endsWith(".");
            Application.with(folder, redis.properties())
                    .withPropertyValues("ratelimit.store.required=false")
                    .run(context -> assertThat(context).hasNotFailed());
        }
    }

    @Test
    void wrongPassword() throws IOException {
        try (RunningRedis redis = RunningRedis.start("requirepass right")) {
            WebApplicationContextRunner application = Application.with(folder, redis.properties());
            for (String password : new String[] {"", "wrong"}) {
                assertSays(
                        analysis(application.withPropertyValues("spring.data.redis.password=" + password)),
                        "Redis at localhost:" + redis.port() + " refuses the user or the password: ",
                        "Correct spring.data.redis.username and spring.data.redis.password.");
            }
            assertSays(
                    analysis(Application.with(
                            folder,
                            "spring.data.redis.cluster.nodes=localhost:" + redis.port(),
                            "spring.data.redis.password=wrong")),
                    "the Redis Cluster at localhost:" + redis.port() + " refuses the user or the password: ",
                    "spring.data.redis.password");
            application
                    .withPropertyValues("spring.data.redis.password=right")
                    .run(context -> assertThat(context).hasNotFailed());
        }
    }

    @Test
    void reasonIsAskedForAgainIfTheConnectionWasClosedBeforeIt() {
        RedisException closedFirst = new RedisConnectionException("", new IllegalStateException("not registered"));
        RedisException refused = new RedisCommandExecutionException("WRONGPASS");
        Iterator<RedisException> failures =
                List.of(closedFirst, closedFirst, refused).iterator();

        assertThatThrownBy(() -> RedisRequirements.connect(() -> {
                    throw failures.next();
                }))
                .isSameAs(refused);

        assertThatThrownBy(() -> RedisRequirements.connect(() -> {
                    throw closedFirst;
                }))
                .isSameAs(closedFirst);
    }

    /** It does not help to wait for that. */
    @Test
    void wrongPasswordStopsTheStartAlsoIfTheStoreIsNotRequired() throws IOException {
        try (RunningRedis redis = RunningRedis.start("requirepass right")) {
            assertSays(
                    analysis(Application.with(folder, redis.properties())
                            .withPropertyValues("spring.data.redis.password=wrong", "ratelimit.store.required=false")),
                    "refuses the user or the password",
                    "Correct spring.data.redis.username");
        }
    }

    @Test
    void missingRights() throws IOException {
        String connects = " +hello +auth +client +ping +info";
        String[] users = {
            "user noscripts on >secret ~rl:* +get +set +time" + connects,
            "user noset on >secret ~rl:* +eval +evalsha +time +mget +exists +del" + connects,
            "user noread on >secret ~rl:* +eval +evalsha +time +get +getrange +set +del" + connects,
            "user nokeys on >secret ~others:* +eval +evalsha +time +mget +exists +set +del" + connects
        };
        try (RunningRedis redis = RunningRedis.start(users)) {
            for (String user : new String[] {"noscripts", "noset", "noread", "nokeys"}) {
                assertSays(
                        analysis(Application.with(folder, redis.properties())
                                .withPropertyValues(
                                        "spring.data.redis.username=" + user, "spring.data.redis.password=secret")),
                        "refuses a command or a key that rate limits need: ",
                        "ACL SETUSER <user> ~rl:* +eval +evalsha +time +mget +exists +set +del +wait +info +hello +auth"
                                + " +client +ping. Add +cluster in a cluster, and +select for a database other than 0.");
            }
        }
    }

    @Test
    void evictionIsRefusedAndUnknownEvictionIsSaid(CapturedOutput output) throws IOException {
        try (RunningRedis redis =
                RunningRedis.start("maxmemory-policy allkeys-lru", "user noinfo on >secret ~rl:* +@all -info")) {
            assertSays(
                    analysis(Application.with(folder, redis.properties())),
                    "Rate limits cannot be kept in Redis: Redis at localhost:" + redis.port()
                            + " has the maxmemory-policy allkeys-lru",
                    "CONFIG SET maxmemory-policy noeviction");
            assertSays(
                    analysis(Application.with(folder, redis.properties())
                            .withPropertyValues("ratelimit.store.required=false")),
                    "maxmemory-policy allkeys-lru",
                    "noeviction");
            Application.with(folder, redis.properties())
                    .withPropertyValues("spring.data.redis.username=noinfo", "spring.data.redis.password=secret")
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(output).contains("this user may not run INFO; make sure that maxmemory-policy is noeviction");
        }
    }

    /** The last one before 6.2 knows HELLO, and answers INFO with the mode. */
    @ParameterizedTest
    @ValueSource(strings = {"5.0.14", "6.0.20"})
    void oldVersion(String version) throws IOException {
        try (FakeRedis old = FakeRedis.ofVersion(version)) {
            assertSays(
                    analysis(Application.with(folder, "spring.data.redis.port=" + old.port())),
                    "Redis at localhost:" + old.port() + " has the version " + version
                            + ", but rate limits need 6.2 or later",
                    "Upgrade Redis to 6.2 or later");
        }
    }

    @Test
    void scriptThatCannotBeLoaded() throws IOException {
        try (RunningRedis redis = RunningRedis.start("rename-command EVAL \"\"", "rename-command EVALSHA \"\"")) {
            assertSays(
                    analysis(Application.with(folder, redis.properties())),
                    "Redis at localhost:" + redis.port() + " cannot run the script that decides: ERR unknown command",
                    "EVAL and EVALSHA, not renamed and not disabled");
        }
    }

    @Test
    void nodeOfAClusterAddressedAsASingleServerAndViceVersa() throws IOException {
        try (RunningRedis node =
                RunningRedis.start("cluster-enabled yes", "cluster-config-file nodes-" + System.nanoTime() + ".conf")) {
            assertSays(
                    analysis(Application.with(folder, node.properties())),
                    "Redis at localhost:" + node.port()
                            + " is a node of a cluster, but is addressed as a single server",
                    "Write spring.data.redis.cluster.nodes: localhost:" + node.port() + " instead of");
        }
        try (RunningRedis single = RunningRedis.start()) {
            assertSays(
                    analysis(Application.with(folder, "spring.data.redis.cluster.nodes=localhost:" + single.port())),
                    "is not a node of a cluster, but spring.data.redis.cluster.nodes is set",
                    "Write spring.data.redis.host and spring.data.redis.port");
        }
    }

    @Test
    void everyMasterOfAClusterIsChecked() throws IOException {
        try (RunningCluster cluster = RunningCluster.start()) {
            int evicting = cluster.ports().get(2);
            String unused = RunningRedis.ask(
                    RedisURI.create("localhost", evicting),
                    commands -> commands.configSet("maxmemory-policy", "volatile-ttl"));
            assertSays(
                    analysis(Application.with(folder, cluster.property())),
                    ":" + evicting + " has the maxmemory-policy volatile-ttl",
                    "noeviction");
        }
    }

    @Test
    void anotherClientThanLettuce() {
        RedisConnectionFactory jedis = mock(RedisConnectionFactory.class);
        assertSays(
                analysis(Application.with(folder).withBean(RedisConnectionFactory.class, () -> jedis)),
                "but rate limits need Lettuce",
                "Set spring.data.redis.client-type to lettuce");
    }

    @Test
    void noFactoryOrSeveral() {
        assertSays(
                analysis(Application.withoutSpringDataRedis(folder, "ratelimit.store.type=redis")),
                "the application has no bean of type RedisConnectionFactory",
                "Set spring.data.redis.host or spring.data.redis.url");
        assertSays(
                analysis(Application.with(folder)
                        .withBean(
                                "cache",
                                LettuceConnectionFactory.class,
                                () -> new LettuceConnectionFactory("localhost", 1))
                        .withBean(
                                "queue",
                                LettuceConnectionFactory.class,
                                () -> new LettuceConnectionFactory("localhost", 2))),
                "several beans of type RedisConnectionFactory, and none is primary: [cache, queue]",
                "@Primary");
        assertSays(
                analysis(Application.with(folder, "spring.data.redis.masterreplica.nodes=localhost:1,localhost:2")),
                "spring.data.redis.masterreplica.nodes lists servers, but not which of them is the master now",
                "spring.data.redis.sentinel.master");
    }

    @Test
    void invalidPrefix() {
        Application.with(folder, "ratelimit.store.redis.key-prefix=a{b}")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidPropertyException.class)
                        .hasMessageContaining("ratelimit.store.redis.key-prefix is 'a{b}'; write 1 to 100 characters"));
    }
}
