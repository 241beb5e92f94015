package dev.ratelimit.audit.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.sqlite.SqliteFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteRetentionTest extends RetentionContract {

    @TempDir
    Path folder;

    private Path file() {
        return folder.resolve("ratelimit-audit.db");
    }

    @Override
    RetentionTestDatabase create() {
        return RetentionTestDatabase.sqlite(file());
    }

    /** Another process that holds the lock until its input ends. */
    static final class HoldingMain {

        public static void main(String[] arguments) {
            boolean held = SqliteFile.at(Path.of(arguments[0])).ifAlone("retention", () -> {
                System.out.println("held");
                try {
                    System.in.readAllBytes();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            assert held;
        }
    }

    @Test
    void anotherProcessKeepsThisOneOutUntilItDies() throws IOException, InterruptedException {
        database.addAudit(in(DECEMBER), "old");
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        HoldingMain.class.getName(),
                        file().toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var said = other.inputReader(StandardCharsets.UTF_8)) {
            assertThat(said.readLine()).isEqualTo("held");

            assertThat(retention(null).run().otherInstance()).isTrue();
            assertThat(database.users()).containsExactly("old");
        } finally {
            other.destroyForcibly().waitFor();
        }

        assertThat(retention(null).run().otherInstance()).isFalse();
        assertThat(database.users()).isEmpty();
    }

    /** A crash between two batches leaves a part of the month. */
    @Test
    void deletionGoesOnWhereItEnded() {
        AuditRow first = database.addAudit(in(DECEMBER), "first");
        AuditRow second = database.addAudit(in(DECEMBER).plusSeconds(1), "second");
        archive.put(DECEMBER, List.of(first, second));
        database.jdbc().update("DELETE FROM rate_limit_audit_logs WHERE user_id = 'first'");

        assertThat(retention(archive).run().failures()).isEmpty();

        assertThat(database.users()).isEmpty();
        assertThat(archive.rows(DECEMBER)).containsExactly(first, second);
        assertThat(archive.writes()).isZero();
    }

    @Test
    void aClockThatHasLeapedDropsNothingForHours() {
        database.addAudit(in(DECEMBER), "old");
        clock.set(in(DECEMBER.plusYears(8)));
        database.addAudit(clock.instant(), "written with the wrong time");
        AtomicLong nanos = new AtomicLong(7);
        AtomicLong looks = new AtomicLong();
        Retention retention = new Retention(database.open(), RetentionSettings.DEFAULT, null, clock, () -> {
            looks.incrementAndGet();
            return nanos.get();
        });
        try (retention) {
            retention.every(Duration.ofMillis(1));

            Awaitility.await().until(() -> looks.get() > 3);
            nanos.addAndGet(Duration.ofHours(6).toNanos() - 1);
            long seen = looks.get();
            Awaitility.await().until(() -> looks.get() > seen + 2);
            assertThat(retention.lastRun()).isNull();
            assertThat(database.users()).containsExactly("old", "written with the wrong time");
            assertThat(retention.failures())
                    .singleElement()
                    .asString()
                    .startsWith("Dropping no months for now: the clock");

            nanos.incrementAndGet();
            Awaitility.await().until(() -> retention.lastRun() != null);
            assertThat(database.users()).containsExactly("written with the wrong time");
        }
    }

    @Test
    void aClockThatRowsAgreeWithIsFollowedAtOnce() {
        database.addAudit(in(DECEMBER), "old");
        clock.set(in(DECEMBER.plusYears(8)));
        database.addAudit(clock.instant().minus(Duration.ofDays(2)), "recent");
        try (Retention retention = retention(null).every(Duration.ofMillis(1))) {
            Awaitility.await().until(() -> retention.lastRun() != null);

            assertThat(database.users()).containsExactly("recent");
        }
    }
}
