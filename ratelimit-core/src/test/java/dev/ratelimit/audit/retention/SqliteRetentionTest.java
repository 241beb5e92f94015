package dev.ratelimit.audit.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.sqlite.SqliteFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
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
}
