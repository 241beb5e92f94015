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
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.autoconfigure.RateLimitAuditAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.store.sqlite.Backups;
import dev.ratelimit.store.sqlite.Backups.Backup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;

/** A rehearsal: the SQLite file is lost, and restored from a backup. */
class SqliteRestoreTest {

    private static final Duration SOON = Duration.ofMinutes(1);
    private static final Change OPS = Change.by("ops");

    @TempDir
    private Path folder;

    private ConfigurableApplicationContext start() {
        return start(RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class);
    }

    private ConfigurableApplicationContext startWithAudit() {
        return start(
                RateLimitAutoConfiguration.class,
                RateLimitPolicyAutoConfiguration.class,
                RateLimitAuditAutoConfiguration.class);
    }

    private ConfigurableApplicationContext start(Class<?>... configurations) {
        SpringApplication application = new SpringApplication(configurations);
        application.setWebApplicationType(WebApplicationType.NONE);
        return application.run(
                "--spring.main.banner-mode=off",
                "--ratelimit.store.type=sqlite",
                "--ratelimit.store.sqlite.path=" + file(""),
                "--ratelimit.backup.directory=" + folder.resolve("backups"),
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=10",
                "--ratelimit.limits.calls.window=3660d",
                "--ratelimit.limits.strict.algorithm=fixed-window",
                "--ratelimit.limits.strict.max-requests=1",
                "--ratelimit.limits.strict.window=3660d",
                "--ratelimit.limits.strict.penalties[0].after=1",
                "--ratelimit.limits.strict.penalties[0].block=30d");
    }

    private Path file(String suffix) {
        return folder.resolve("limits.db" + suffix);
    }

    private Path auditFile() {
        return folder.resolve("limits-audit.db");
    }

    private void lose() throws IOException {
        lose(file(""));
    }

    private static void lose(Path file) throws IOException {
        for (String suffix : List.of("", "-wal", "-shm")) {
            Files.deleteIfExists(file.resolveSibling(file.getFileName() + suffix));
        }
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

    private static long remaining(ConfigurableApplicationContext context) {
        return context.getBean(RateLimiter.class)
                .peek(Subject.user("alice"), "calls")
                .remaining();
    }

    private static long capacity(ConfigurableApplicationContext context) {
        return context.getBean(Limits.class).get("calls").capacity();
    }

    private static RateLimitAdmin admin(ConfigurableApplicationContext context) {
        return context.getBean(RateLimitAdmin.class);
    }

    /** A backup, and API keys: one from before it, one that was revoked and one that was created after it. */
    private record Rehearsal(Backup backup, IssuedKey before, IssuedKey revoked, IssuedKey after) {}

    /** Ends with a limit of 5, of which alice has used more. */
    private static Rehearsal changeBeforeAndAfterABackup(ConfigurableApplicationContext context) {
        decide(context, "alice", 3);
        decide(context, "bob", "strict");
        decide(context, "bob", "strict");
        admin(context).limits().set("calls", Map.of("max-requests", "20"), OPS);
        admin(context).quotas().block("mallory", Change.by("ops").because("fraud"));
        IssuedKey before = admin(context).keys().create(NewApiKey.of("before", "alice"), Change.by("ops"));
        IssuedKey revoked = admin(context).keys().create(NewApiKey.of("revoked", "alice"), Change.by("ops"));

        Backup backup = context.getBean(Backups.class).create().get(0);

        decide(context, "alice", 4);
        decide(context, "dave", "strict");
        decide(context, "dave", "strict");
        admin(context).limits().set("calls", Map.of("max-requests", "5"), OPS);
        admin(context).quotas().block("eve", Change.by("ops").because("fraud"));
        admin(context).keys().revoke(revoked.id(), Change.by("ops"));
        IssuedKey after = admin(context).keys().create(NewApiKey.of("after", "alice"), Change.by("ops"));
        return new Rehearsal(backup, before, revoked, after);
    }

    private static void assertAsInTheBackup(ConfigurableApplicationContext context, Rehearsal rehearsal) {
        assertThat(capacity(context)).isEqualTo(20);
        assertThat(remaining(context))
                .as("of 20, three were counted before the backup; the four after it are admitted again")
                .isEqualTo(17);
        assertThat(admin(context).penalties().list())
                .extracting(Penalty::subject)
                .containsExactly("user:bob");
        assertThat(decide(context, "bob", "strict")).isEqualTo(Outcome.BLOCKED);
        assertThat(decide(context, "dave", "strict")).isEqualTo(Outcome.ALLOWED);
        assertThat(admin(context).quotas().list())
                .extracting(UserQuota::account)
                .extracting("user")
                .containsExactly("mallory");
        ApiKeys keys = context.getBean(ApiKeys.class);
        assertThat(keys.recognise(rehearsal.before().secret())).isNotNull();
        assertThat(keys.recognise(rehearsal.revoked().secret()))
                .as("valid again")
                .isNotNull();
        assertThat(keys.recognise(rehearsal.after().secret())).isNull();
    }

    @Test
    void applicationGoesOnFromTheBackup() throws IOException {
        Rehearsal rehearsal;
        try (ConfigurableApplicationContext context = start()) {
            rehearsal = changeBeforeAndAfterABackup(context);
            assertThat(context.getBean(Backups.class).list()).containsExactly(rehearsal.backup());
        }
        lose();
        Files.copy(folder.resolve("backups").resolve(rehearsal.backup().name()), file(""));

        try (ConfigurableApplicationContext context = start()) {
            assertAsInTheBackup(context, rehearsal);
        }
    }

    /** The subjects of the audit trail. */
    private static List<String> audited(ConfigurableApplicationContext context) {
        context.getBean(RequestAudit.class).flush();
        return context.getBean(Reports.class).entries(AuditQuery.since(Instant.EPOCH, 100)).stream()
                .map(entry -> entry.cause().subject())
                .distinct()
                .toList();
    }

    @Test
    void auditTrailIsRestoredFromItsOwnBackup() throws IOException {
        Backup backup;
        try (ConfigurableApplicationContext context = startWithAudit()) {
            decide(context, "bob", "strict");
            decide(context, "bob", "strict");
            assertThat(audited(context)).containsExactly("user:bob");

            List<Backup> backups = context.getBean(Backups.class).create();

            assertThat(backups).extracting(Backup::of).containsExactly("limits", "limits-audit");
            backup = backups.get(1);
            decide(context, "dave", "strict");
            decide(context, "dave", "strict");
            assertThat(audited(context)).containsExactlyInAnyOrder("user:bob", "user:dave");
        }
        lose(auditFile());
        try (ConfigurableApplicationContext context = startWithAudit()) {
            assertThat(audited(context)).as("without a restore").isEmpty();
        }
        lose(auditFile());
        Files.copy(folder.resolve("backups").resolve(backup.name()), auditFile());

        try (ConfigurableApplicationContext context = startWithAudit()) {
            assertThat(audited(context)).containsExactly("user:bob");
            assertThat(decide(context, "dave", "strict"))
                    .as("the counts are in the other file, which was not lost")
                    .isEqualTo(Outcome.BLOCKED);
            assertThat(audited(context)).containsExactlyInAnyOrder("user:bob", "user:dave");
        }
    }

    /** Not the way to do it, but nothing may go wrong: it is noticed as another file, and everything is read again. */
    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows does not delete a file that is open")
    void runningApplicationNoticesAFileThatWasPutInPlace() throws IOException {
        try (ConfigurableApplicationContext context = start()) {
            Rehearsal rehearsal = changeBeforeAndAfterABackup(context);
            Path copy = Files.copy(
                    folder.resolve("backups").resolve(rehearsal.backup().name()), file("-new"));
            Files.delete(file("-wal"));
            Files.delete(file("-shm"));
            Files.move(copy, file(""), StandardCopyOption.ATOMIC_MOVE);

            Awaitility.await().atMost(SOON).until(() -> capacity(context) == 20);
            Awaitility.await().atMost(SOON).until(() -> remaining(context) == 17);
            assertAsInTheBackup(context, rehearsal);
        }
    }
}
