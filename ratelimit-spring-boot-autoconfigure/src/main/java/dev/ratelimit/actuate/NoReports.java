package dev.ratelimit.actuate;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.audit.report.Reports;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * For applications that have {@link Reports} injected and keep no audit trail at the moment, such as in a test. Each report fails:
 * an empty one would say that nobody was denied.
 *
 * @param reason why there are none, and the remedy
 */
public record NoReports(String reason) implements Reports {

    private IllegalStateException missing() {
        return new IllegalStateException(reason);
    }

    @Override
    public List<Period> timeline(@Nullable String limit, Granularity granularity, Instant from, Instant until) {
        throw missing();
    }

    @Override
    public List<SubjectTimeline> timelines(String subject, Granularity granularity, Instant from, Instant until) {
        throw missing();
    }

    @Override
    public List<SubjectTotals> busiest(Instant since, int most) {
        throw missing();
    }

    @Override
    public List<SubjectTotals> mostDenied(Instant since, int most) {
        throw missing();
    }

    @Override
    public List<LimitViolations> violations(Instant since) {
        throw missing();
    }

    @Override
    public List<ViolationRate> violationRates(Instant since) {
        throw missing();
    }

    @Override
    public List<ViolationRate> trialRates(Instant since) {
        throw missing();
    }

    @Override
    public List<AuditEntry> entries(AuditQuery query) {
        throw missing();
    }
}
