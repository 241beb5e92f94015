package dev.ratelimit.operate;

import dev.ratelimit.audit.retention.RetentionPlan;
import dev.ratelimit.audit.retention.RetentionReport;
import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The months of the audit trail and of totals that end.
 *
 * @param plan the months that would be dropped now
 * @param lastRun the last run of this instance, or {@code null} if there was none
 */
public record RetentionView(Plan plan, @Nullable Run lastRun) {

    /**
     * A month that ends.
     *
     * @param rows such as {@code audit trail} or {@code totals per minute}
     * @param month such as {@code 2026-11}
     * @param count the number of rows
     * @param archive the archive that the rows go to, or {@code null}
     */
    public record Month(
            String rows, String month, long count, @Nullable String archive) {

        static Month of(RetentionPlan.Drop drop) {
            return new Month(drop.rows().toString(), drop.month().toString(), drop.count(), drop.archive());
        }

        static List<Month> of(List<RetentionPlan.Drop> drops) {
            return drops.stream().map(Month::of).toList();
        }
    }

    /**
     * A dry run.
     *
     * @param months the months that would be dropped
     * @param expiredFiles the files of archives that would be deleted
     */
    public record Plan(Instant at, List<Month> months, List<String> expiredFiles) {

        static Plan of(RetentionPlan plan) {
            return new Plan(
                    plan.at(),
                    Month.of(plan.drops()),
                    plan.expiredFiles().stream().map(Path::toString).toList());
        }
    }

    /**
     * A run.
     *
     * @param otherInstance whether it stopped because another instance was at work
     * @param dropped the months that are gone
     * @param deletedArchives the months whose archives are gone
     * @param failures the months that are still there, and why
     */
    public record Run(
            Instant at,
            boolean otherInstance,
            List<Month> dropped,
            List<String> deletedArchives,
            List<String> failures) {

        static Run of(RetentionReport report) {
            return new Run(
                    report.at(),
                    report.otherInstance(),
                    Month.of(report.dropped()),
                    report.deletedArchives().stream().map(YearMonth::toString).toList(),
                    report.failures());
        }
    }
}
