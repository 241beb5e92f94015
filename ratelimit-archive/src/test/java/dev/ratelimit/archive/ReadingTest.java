package dev.ratelimit.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.archive.guide.ArchivedRequests;
import dev.ratelimit.audit.retention.AuditRow;
import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The code of docs/how-to/archive.md. */
class ReadingTest {

    @TempDir
    Path folder;

    @Test
    void requestsOfAUserAreCounted() {
        TestTrail trail = TestTrail.create(TestTrail.Kind.SQLITE, folder);
        AuditRow one = TestTrail.row(Instant.parse("2025-12-17T12:00:00Z"), 0);
        AuditRow other = TestTrail.row(Instant.parse("2025-12-17T12:00:00Z"), 2);
        trail.add(List.of(one, other));
        Instant later = Instant.parse("2026-04-02T00:00:00Z");
        trail.retention(ParquetArchive.at(folder.resolve("archive")), () -> later)
                .run();

        assertThat(ArchivedRequests.of(one.userId(), YearMonth.of(2025, 12), folder.resolve("archive")))
                .isEqualTo(one.requests());
    }
}
