package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** One of two shards is unavailable at startup and comes later: {@code ratelimit.store.required: false}. */
@ExtendWith(OutputCaptureExtension.class)
class ShardDownAtStartTest {

    private static final Duration SOON = Duration.ofMinutes(1);

    private static final List<Subject> USERS =
            IntStream.range(0, 12).mapToObj(i -> Subject.user("user" + i)).toList();

    @TempDir
    Path folder;

    private StoppablePostgres first;
    private StoppablePostgres second;
    private List<Subject> onFirst;
    private List<Subject> onSecond;

    @BeforeEach
    void create() {
        first = new StoppablePostgres(folder.resolve("first"));
        second = new StoppablePostgres(folder.resolve("second"));
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    private ConfigurableApplicationContext start() {
        SpringApplication application =
                new SpringApplication(RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        return application.run(
                "--spring.main.banner-mode=off",
                "--ratelimit.store.required=false",
                "--ratelimit.store.deadline=2s",
                "--ratelimit.store.postgresql.pool-size=2",
                "--ratelimit.store.postgresql.shards.a=" + first.jdbcUrl(),
                "--ratelimit.store.postgresql.shards.b=" + second.jdbcUrl(),
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=100",
                "--ratelimit.limits.calls.window=3660d");
    }

    private static Decision decide(ConfigurableApplicationContext context, Subject user) {
        return context.getBean(RateLimiter.class)
                .decide(LimitRequest.of(user, "calls").onFailure(FailurePolicy.CLOSED));
    }

    private static void assertRemaining(ConfigurableApplicationContext context, List<Subject> users, long remaining) {
        for (Subject user : users) {
            Decision decision = decide(context, user);
            assertThat(decision.outcome()).as("%s", user).isEqualTo(Outcome.ALLOWED);
            assertThat(decision.remaining()).as("%s", user).isEqualTo(remaining);
        }
    }

    private static void assertFailed(ConfigurableApplicationContext context, List<Subject> users) {
        users.forEach(user ->
                assertThat(decide(context, user).outcome()).as("%s", user).isEqualTo(Outcome.FAILED));
    }

    private static void awaitAllowed(ConfigurableApplicationContext context, Subject user) {
        Awaitility.await()
                .atMost(SOON)
                .until(() -> context.getBean(RateLimiter.class)
                                .peek(LimitRequest.of(user, "calls").onFailure(FailurePolicy.CLOSED))
                                .outcome()
                        == Outcome.ALLOWED);
    }

    /** Both have recorded which shards there are, and every user has made a request. */
    private void useBoth() {
        first.start();
        second.start();
        try (ConfigurableApplicationContext context = start()) {
            ShardedLimitStore store = context.getBean(ShardedLimitStore.class);
            onFirst = USERS.stream()
                    .filter(user -> store.part(StateKey.of(user, "calls")) == 0)
                    .toList();
            onSecond = USERS.stream().filter(user -> !onFirst.contains(user)).toList();
            assertThat(onFirst).isNotEmpty();
            assertThat(onSecond).isNotEmpty();
            assertRemaining(context, USERS, 99);
        }
    }

    @Test
    void theOtherShardIsUsedAtOnceAndTheMissingOneLater(CapturedOutput output) {
        useBoth();
        second.stop();
        try (ConfigurableApplicationContext context = start()) {
            assertThat(output).contains("Starting without shard b; applying on-failure until it is available: ");
            assertRemaining(context, onFirst, 98);
            assertFailed(context, onSecond);
            assertRemaining(context, onFirst, 97);

            second.start();

            awaitAllowed(context, onSecond.get(0));
            assertThat(output).contains("Shard b is available");
            assertRemaining(context, onSecond, 98);
            assertRemaining(context, onFirst, 96);
        }
    }

    /** The first one also has the limits that are changed at run time. */
    @Test
    void theFirstShardMayComeLaterToo() {
        useBoth();
        first.stop();
        try (ConfigurableApplicationContext context = start()) {
            assertRemaining(context, onSecond, 98);
            assertFailed(context, onFirst);

            first.start();

            awaitAllowed(context, onFirst.get(0));
            assertRemaining(context, onFirst, 98);
            Awaitility.await().atMost(SOON).ignoreExceptions().until(() -> {
                context.getBean(RateLimitAdmin.class)
                        .limits()
                        .set(
                                "calls",
                                Map.of("algorithm", "fixed-window", "max-requests", "50", "window", "3660d"),
                                Change.by("ops"));
                return true;
            });
        }
    }

    /** Its subjects would get a fresh limit there. */
    @Test
    void anotherDatabaseInItsPlaceDecidesNothing(CapturedOutput output) throws SQLException {
        useBoth();
        execute("UPDATE ratelimit.rate_limit_shards SET this_name = 'other'");
        second.stop();
        try (ConfigurableApplicationContext context = start()) {
            assertRemaining(context, onFirst, 98);

            second.start();

            Awaitility.await()
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(output)
                            .contains("Shard b is available, but cannot be used: ")
                            .contains("is shard 'other'"));
            assertFailed(context, onSecond);
            assertRemaining(context, onFirst, 97);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(second.jdbcUrl());
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void theFirstStartOfAllNeedsAllShards() {
        first.start();
        try (ConfigurableApplicationContext context = start()) {
            assertFailed(context, USERS);

            second.start();

            USERS.forEach(user -> awaitAllowed(context, user));
            assertRemaining(context, USERS, 99);
        }
    }
}
