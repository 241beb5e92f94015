package dev.ratelimit.audit;

class PostgresAuditUnderLoadTest extends AuditUnderLoadContract {

    @Override
    AuditTestDatabase create() {
        return AuditTestDatabase.postgres();
    }
}
