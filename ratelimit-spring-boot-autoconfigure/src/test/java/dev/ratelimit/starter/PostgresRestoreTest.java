package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.PenaltyAdmin.Penalty;
import dev.ratelimit.admin.QuotaAdmin.UserQuota;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.testing.postgres.PostgresNode;
import dev.ratelimit.testing.postgres.Recipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.FileSystemUtils;

/**
 * A rehearsal of the worst day: the database is lost, and restored to a moment before a mistake, from a base backup and the
 * archived log. Two instances run all the time.
 */
@Timeout(180)
class PostgresRestoreTest {

    private static final Duration SOON = Duration.ofMinutes(1);
    private static final Change OPS = Change.by("ops");

    @TempDir
    private Path folder;

    private static ConfigurableApplicationContext start(PostgresNode node, String... settings) {
        SpringApplication application =
                new SpringApplication(RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        List<String> arguments = new ArrayList<>(List.of(
                "--spring.main.banner-mode=off",
                "--ratelimit.store.postgresql.url=" + node.jdbcUrl(),
                "--ratelimit.api-keys.enabled=true",
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=10",
                "--ratelimit.limits.calls.window=3660d",
                "--ratelimit.limits.strict.algorithm=fixed-window",
                "--ratelimit.limits.strict.max-requests=1",
                "--ratelimit.limits.strict.window=3660d",
                "--ratelimit.limits.strict.penalties[0].after=1",
                "--ratelimit.limits.strict.penalties[0].block=30d"));
        for (String setting : settings) {
            arguments.add("--" + setting);
        }
        return application.run(arguments.toArray(String[]::new));
    }

    private static long remaining(ConfigurableApplicationContext context, String user) {
        return context.getBean(RateLimiter.class)
                .peek(LimitRequest.of(Subject.user(user), "calls").onFailure(FailurePolicy.CLOSED))
                .remaining();
    }

    /** Asks until the store has decided: on a busy machine it may be late. */
    private static Outcome decide(ConfigurableApplicationContext context, String user, String limit) {
        RateLimiter limiter = context.getBean(RateLimiter.class);
        return Awaitility.await()
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(10))
                .until(
                        () -> limiter.decide(LimitRequest.of(Subject.user(user), limit)
                                        .onFailure(FailurePolicy.CLOSED))
                                .outcome(),
                        Outcome::isDecided);
    }

    private static void decide(ConfigurableApplicationContext context, String user, int times) {
        for (int i = 0; i < times; i++) {
            decide(context, user, "calls");
        }
    }

    private static long capacity(ConfigurableApplicationContext context) {
        return context.getBean(Limits.class).get("calls").capacity();
    }

    private static RateLimitAdmin admin(ConfigurableApplicationContext context) {
        return context.getBean(RateLimitAdmin.class);
    }

    private static List<String> blocked(ConfigurableApplicationContext context) {
        return admin(context).quotas().list().stream()
                .map(UserQuota::account)
                .filter(account -> account.blockedUntil() != null)
                .map(Account::user)
                .sorted()
                .toList();
    }

    private static List<String> penalised(ConfigurableApplicationContext context) {
        return admin(context).penalties().list().stream()
                .map(Penalty::subject)
                .sorted()
                .toList();
    }

    @Test
    void databaseIsAsItWasAtThatMomentAndRunningInstancesFollow() throws Exception {
        Path archive = Files.createDirectory(folder.resolve("archive"));
        Path backup = folder.resolve("backup");
        Path data = folder.resolve("data");
        try (PostgresNode node = new PostgresNode(data);
                PostgresNode restored = new PostgresNode(data, node.port())) {
            node.configure(Recipe.of("archive.conf").with("/archive", archive.toString()));
            node.start();
            // The second one would not notice a change for a day, so that it sees a history that is as long as its own.
            try (ConfigurableApplicationContext context = start(node);
                    ConfigurableApplicationContext late =
                            start(node, "ratelimit.changes.listen=false", "ratelimit.changes.poll-interval=1d")) {
                node.baseBackup(backup);
                decide(context, "alice", 3);
                decide(context, "bob", "strict");
                decide(context, "bob", "strict");
                admin(context).limits().set("calls", Map.of("max-requests", "20"), OPS);
                admin(context).quotas().block("mallory", Change.by("ops").because("fraud"));
                IssuedKey before = admin(context).keys().create(NewApiKey.of("before", "alice"), Change.by("ops"));
                IssuedKey revoked = admin(context).keys().create(NewApiKey.of("revoked", "alice"), Change.by("ops"));

                String moment = node.query("SELECT clock_timestamp()");

                decide(context, "alice", 4);
                decide(context, "dave", "strict");
                decide(context, "dave", "strict");
                admin(late).limits().set("calls", Map.of("max-requests", "5"), OPS);
                admin(late).quotas().block("eve", Change.by("ops").because("fraud"));
                admin(late).keys().revoke(revoked.id(), Change.by("ops"));
                IssuedKey after = admin(late).keys().create(NewApiKey.of("after", "alice"), Change.by("ops"));
                Awaitility.await().atMost(SOON).until(() -> capacity(context) == 5);
                assertThat(penalised(context)).containsExactly("user:bob", "user:dave");
                awaitArchived(node);

                // The disaster.
                node.kill();
                FileSystemUtils.deleteRecursively(data);
                PostgresNode.copy(backup, data);
                restored.configure(Recipe.of("restore.conf")
                                .with("/archive", archive.toString())
                                .with("2026-07-31 09:30:00+00", moment))
                        .signal("recovery.signal")
                        .start();

                Awaitility.await().atMost(SOON).until(() -> capacity(context) == 20);
                assertAsAtThatMoment(context, List.of(before, revoked), after);
                assertOtherHistoryIsNoticed(context, late);
            }
        }
    }

    private static void awaitArchived(PostgresNode node) throws SQLException {
        String last = node.query("SELECT pg_walfile_name(pg_switch_wal())");
        Awaitility.await()
                .atMost(SOON)
                .until(() -> node.query(
                                "SELECT coalesce(max(last_archived_wal), '') >= '" + last + "' FROM pg_stat_archiver")
                        .equals("t"));
    }

    private static void assertAsAtThatMoment(
            ConfigurableApplicationContext context, List<IssuedKey> before, IssuedKey after) {
        Awaitility.await().atMost(SOON).until(() -> decide(context, "somebody", "calls") == Outcome.ALLOWED);
        assertThat(remaining(context, "alice"))
                .as("of 20, three were counted before that moment; the four after it are admitted again")
                .isEqualTo(17);
        assertThat(penalised(context)).containsExactly("user:bob");
        assertThat(decide(context, "bob", "strict")).isEqualTo(Outcome.BLOCKED);
        assertThat(decide(context, "dave", "strict")).isEqualTo(Outcome.ALLOWED);
        assertThat(blocked(context)).containsExactly("mallory");
        ApiKeys keys = context.getBean(ApiKeys.class);
        assertThat(before)
                .as("a key that was revoked afterwards is valid again")
                .allSatisfy(key -> assertThat(keys.recognise(key.secret())).isNotNull());
        assertThat(keys.recognise(after.secret())).isNull();
    }

    /** The feed becomes as long as it was before the restore, with other changes. */
    private static void assertOtherHistoryIsNoticed(
            ConfigurableApplicationContext context, ConfigurableApplicationContext late) {
        assertThat(capacity(late)).as("not noticed yet").isEqualTo(5);
        for (int i = 0; i < 10; i++) {
            admin(context).quotas().block("trudy" + i, Change.by("ops").because("fraud"));
        }

        admin(late).quotas().block("victor", Change.by("ops").because("fraud")); // reads the feed first

        assertThat(capacity(late)).isEqualTo(20);
        assertThat(blocked(late))
                .hasSize(12)
                .contains("mallory", "trudy0", "victor")
                .doesNotContain("eve");
    }
}
