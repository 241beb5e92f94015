package dev.ratelimit.metrics;

import dev.ratelimit.audit.RequestAudit;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/** The audit trail and totals: rows that wait, and entries and minutes that are lost. */
public final class AuditMeters implements MeterBinder {

    private final RequestAudit audit;

    public AuditMeters(RequestAudit audit) {
        this.audit = audit;
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
    }
}
