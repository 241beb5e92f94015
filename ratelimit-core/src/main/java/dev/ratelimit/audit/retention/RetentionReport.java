package dev.ratelimit.audit.retention;

import java.time.Instant;
import java.time.YearMonth;
import java.util.List;

/**
 * The outcome of a run of {@link Retention}.
 *
 * @param otherInstance whether the run stopped since another instance was at work
 * @param dropped the months that are gone
 * @param deletedArchives the months whose archives are gone
 * @param failures the months that are still there, and why
 */
public record RetentionReport(
        Instant at,
        boolean otherInstance,
        List<RetentionPlan.Drop> dropped,
        List<YearMonth> deletedArchives,
        List<String> failures) {}
