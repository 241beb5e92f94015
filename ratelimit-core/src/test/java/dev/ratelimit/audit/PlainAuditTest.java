package dev.ratelimit.audit;

/** On tables without functions and partitions. */
class PlainAuditTest extends AuditContract {

    @Override
    AuditTestDatabase create() {
        return AuditTestDatabase.plain();
    }
}
