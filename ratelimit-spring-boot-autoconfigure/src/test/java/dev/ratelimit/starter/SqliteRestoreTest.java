package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
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
import dev.ratelimit.caller.ApiKeys;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.Configuration;

/** A rehearsal: the SQLite file is lost, and restored from a backup. */
class SqliteRestoreTest {

    private static final Duration SOON = Duration.ofMinutes(1);
    private static final Change OPS = Change.by("ops");

    @TempDir
    private Path folder;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {}

    private RunningApplication start() {
        return RunningApplication.start(
                List.of(Application.class),
                "management.endpoints.web.exposure.include=ratelimit",
                "ratelimit.store.type=sqlite",
                "ratelimit.store.sqlite.path=" + file(""),
                "ratelimit.backup.directory=" + folder.resolve("backups"),
                "ratelimit.limits.calls.algorithm=fixed-window",
                "ratelimit.limits.calls.max-requests=10",
                "ratelimit.limits.calls.window=3660d",
                "ratelimit.limits.strict.algorithm=fixed-window",
                "ratelimit.limits.strict.max-requests=1",
                "ratelimit.limits.strict.window=3660d",
                "ratelimit.limits.strict.penalties[0].after=1",
                "ratelimit.limits.strict.penalties[0].block=30d");
    }

    /** The backups by the names of their files, taken through the endpoint. */
    private Map<String, Path> backUp(RunningApplication application) throws Exception {
        HttpResponse<String> answer =
                application.post("/actuator/ratelimit/backups", "application/json", "{\"reason\": \"a rehearsal\"}");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        List<Map<String, String>> backups = JsonPath.read(answer.body(), "$.backups");
        return backups.stream()
                .collect(Collectors.toMap(
                        backup -> backup.get("of"),
                        backup -> folder.resolve("backups").resolve(backup.get("name"))));
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
    private static Outcome decide(RunningApplication context, String user, String limit) {
        RateLimiter limiter = context.bean(RateLimiter.class);
        return Awaitility.await()
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(10))
                .until(
                        () -> limiter.decide(LimitRequest.of(Subject.user(user), limit)
                                        .onFailure(FailurePolicy.CLOSED))
                                .outcome(),
                        Outcome::isDecided);
    }

    private static void decide(RunningApplication context, String user, int times) {
        for (int i = 0; i < times; i++) {
            decide(context, user, "calls");
        }
    }

    private static long remaining(RunningApplication context) {
        return context.bean(RateLimiter.class)
                .peek(Subject.user("alice"), "calls")
                .remaining();
    }

    private static long capacity(RunningApplication context) {
        return context.bean(Limits.class).get("calls").capacity();
    }

    private static RateLimitAdmin admin(RunningApplication context) {
        return context.bean(RateLimitAdmin.class);
    }

    /** A backup, and API keys: one from before it, one that was revoked and one that was created after it. */
    private record Rehearsal(Path backup, IssuedKey before, IssuedKey revoked, IssuedKey after) {}

    /** Ends with a limit of 5, of which alice has used more. */
    private Rehearsal changeBeforeAndAfterABackup(RunningApplication context) throws Exception {
        decide(context, "alice", 3);
        decide(context, "bob", "strict");
        decide(context, "bob", "strict");
        admin(context).limits().set("calls", Map.of("max-requests", "20"), OPS);
        admin(context).quotas().block("mallory", Change.by("ops").because("fraud"));
        IssuedKey before = admin(context).keys().create(NewApiKey.of("before", "alice"), Change.by("ops"));
        IssuedKey revoked = admin(context).keys().create(NewApiKey.of("revoked", "alice"), Change.by("ops"));

        Path backup = backUp(context).get("limits");

        decide(context, "alice", 4);
        decide(context, "dave", "strict");
        decide(context, "dave", "strict");
        admin(context).limits().set("calls", Map.of("max-requests", "5"), OPS);
        admin(context).quotas().block("eve", Change.by("ops").because("fraud"));
        admin(context).keys().revoke(revoked.id(), Change.by("ops"));
        IssuedKey after = admin(context).keys().create(NewApiKey.of("after", "alice"), Change.by("ops"));
        return new Rehearsal(backup, before, revoked, after);
    }

    private static void assertAsInTheBackup(RunningApplication context, Rehearsal rehearsal) {
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
        ApiKeys keys = context.bean(ApiKeys.class);
        assertThat(keys.recognise(rehearsal.before().secret())).isNotNull();
        assertThat(keys.recognise(rehearsal.revoked().secret()))
                .as("valid again")
                .isNotNull();
        assertThat(keys.recognise(rehearsal.after().secret())).isNull();
    }

    @Test
    void applicationGoesOnFromTheBackup() throws Exception {
        Rehearsal rehearsal;
        try (RunningApplication context = start()) {
            rehearsal = changeBeforeAndAfterABackup(context);
        }
        lose();
        Files.copy(rehearsal.backup(), file(""));

        try (RunningApplication context = start()) {
            assertAsInTheBackup(context, rehearsal);
        }
    }

    /** The subjects of the audit trail. */
    private static List<String> audited(RunningApplication context) {
        context.bean(RequestAudit.class).flush();
        return context.bean(Reports.class).entries(AuditQuery.since(Instant.EPOCH, 100)).stream()
                .map(entry -> entry.cause().subject())
                .distinct()
                .toList();
    }

    @Test
    void auditTrailIsRestoredFromItsOwnBackup() throws Exception {
        Path backup;
        try (RunningApplication context = start()) {
            decide(context, "bob", "strict");
            decide(context, "bob", "strict");
            assertThat(audited(context)).containsExactly("user:bob");

            Map<String, Path> backups = backUp(context);

            assertThat(backups).containsOnlyKeys("limits", "limits-audit");
            backup = backups.get("limits-audit");
            decide(context, "dave", "strict");
            decide(context, "dave", "strict");
            assertThat(audited(context)).containsExactlyInAnyOrder("user:bob", "user:dave");
        }
        lose(auditFile());
        try (RunningApplication context = start()) {
            assertThat(audited(context)).as("without a restore").isEmpty();
        }
        lose(auditFile());
        Files.copy(backup, auditFile());

        try (RunningApplication context = start()) {
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
    void runningApplicationNoticesAFileThatWasPutInPlace() throws Exception {
        try (RunningApplication context = start()) {
            Rehearsal rehearsal = changeBeforeAndAfterABackup(context);
            Path copy = Files.copy(rehearsal.backup(), file("-new"));
            Files.delete(file("-wal"));
            Files.delete(file("-shm"));
            Files.move(copy, file(""), StandardCopyOption.ATOMIC_MOVE);

            Awaitility.await().atMost(SOON).until(() -> capacity(context) == 20);
            Awaitility.await().atMost(SOON).until(() -> remaining(context) == 17);
            assertAsInTheBackup(context, rehearsal);
        }
    }
}
