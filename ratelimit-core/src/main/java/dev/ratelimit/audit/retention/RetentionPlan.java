package dev.ratelimit.audit.retention;

import dev.ratelimit.setting.Durations;
import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The work of a run of {@link Retention} at a moment.
 *
 * @param drops the months that end, the oldest first for each kind of rows
 * @param expiredArchives the archives that end
 */
public record RetentionPlan(Instant at, List<Drop> drops, List<AuditArchive.Month> expiredArchives) {

    /**
     * A month that ends.
     *
     * @param count the number of rows
     * @param archive the archive that the rows go to, or {@code null}
     */
    public record Drop(
            RetainedRows rows,
            YearMonth month,
            long count,
            @Nullable String archive) {

        /** In words. */
        @Override
        public String toString() {
            return rows + " of " + month + " (" + Durations.count(count, "row") + ")"
                    + (archive == null ? "" : ", archived in " + archive);
        }
    }

    /** Whether there is nothing to do. */
    public boolean isEmpty() {
        return drops.isEmpty() && expiredArchives.isEmpty();
    }

    /** The files of archives that end. */
    public List<Path> expiredFiles() {
        return expiredArchives.stream()
                .flatMap(archive -> archive.files().stream())
                .toList();
    }
}
