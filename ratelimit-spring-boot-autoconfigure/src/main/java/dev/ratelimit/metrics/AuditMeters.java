package dev.ratelimit.metrics;

import dev.ratelimit.audit.RequestAudit;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.IntSupplier;

/** The audit trail and totals: whether they are written, rows that wait, entries that are lost, and months that do not end. */
public final class AuditMeters implements MeterBinder {

    private final RequestAudit audit;
    private final IntSupplier retentionFailures;

    /**
     * @param retentionFailures how many old months and archives could not be dropped
     */
    public AuditMeters(RequestAudit audit, IntSupplier retentionFailures) {
        this.audit = audit;
        this.retentionFailures = retentionFailures;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        FunctionCounter.builder("ratelimit.audit.dropped", audit, RequestAudit::dropped)
                .description("Requests that are missing in the audit trail")
                .register(registry);
        FunctionCounter.builder("ratelimit.audit.merged", audit, RequestAudit::merged)
                .description("Denials that the audit trail holds without their sender")
                .register(registry);
        FunctionCounter.builder("ratelimit.totals.dropped", audit, RequestAudit::droppedMinutes)
                .description("Minutes whose totals are missing or incomplete")
                .register(registry);
        Gauge.builder("ratelimit.audit.waiting", audit, RequestAudit::waiting)
                .description("Rows of the audit trail that wait to be written")
                .register(registry);
        Gauge.builder("ratelimit.audit.available", audit, one -> one.failure() == null ? 1 : 0)
                .description("Whether the audit trail and totals can be written")
                .register(registry);
        Gauge.builder("ratelimit.totals.available", audit, one -> one.sumsFailure() == null ? 1 : 0)
                .description("Whether totals of minutes can be summed up to hours and days")
                .register(registry);
        Gauge.builder("ratelimit.retention.failures", retentionFailures::getAsInt)
                .description("Old months and archives that the last run could not drop")
                .register(registry);
    }
}
