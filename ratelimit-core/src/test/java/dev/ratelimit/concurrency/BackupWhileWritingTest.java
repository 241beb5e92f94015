package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A backup while two other processes decide as fast as they can. */
@Timeout(120)
class BackupWhileWritingTest {

    private static final Logger log = LoggerFactory.getLogger(BackupWhileWritingTest.class);

    private static final int BACKUPS = 5;

    @Test
    void backupHasEveryDecisionThatWasAcknowledgedBefore(@TempDir Path folder) throws Exception {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        Schema.migrate(file);
        List<Path> outputs = List.of(folder.resolve("first"), folder.resolve("second"));
        List<Process> processes = outputs.stream()
                .map(output ->
                        LimiterChild.startInto(output, "sqlite", file.path().toString(), "until-killed"))
                .toList();
        try {
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> outputs.stream().allMatch(output -> admitted(output) > 0));
            for (int i = 0; i < BACKUPS; i++) {
                Path copy = folder.resolve("copy" + i + ".db");
                long before = admitted(outputs);
                long start = System.nanoTime();
                file.backupTo(copy);
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                long counted = counted(copy);
                // The others go on: the next backup has more.
                await().atMost(Duration.ofSeconds(30)).until(() -> admitted(outputs) > counted);
                log.info(
                        "backup {} took {} ms; acknowledged before {}, in the copy {}, acknowledged after {}",
                        i,
                        millis,
                        before,
                        counted,
                        admitted(outputs));
                assertThat(counted).isGreaterThanOrEqualTo(before);
            }
        } finally {
            for (Process process : processes) {
                process.destroyForcibly();
                assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            }
        }
        for (Path output : outputs) {
            assertThat(Files.readString(output)).doesNotContain("not admitted");
        }
    }

    private static long admitted(List<Path> outputs) {
        return outputs.stream().mapToLong(BackupWhileWritingTest::admitted).sum();
    }

    private static long admitted(Path output) {
        try {
            return Files.readString(output)
                    .lines()
                    .filter(line -> line.equals(LimiterProcess.MARK + "admitted"))
                    .count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long counted(Path copy) throws SQLException {
        try (Connection connection = SqliteFile.at(copy).dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT request_count FROM rate_limits WHERE user_id = 'user:everybody' AND resource = 'endless'")) {
            assertThat(row.next()).isTrue();
            return row.getLong(1);
        }
    }
}
