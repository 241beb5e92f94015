package dev.ratelimit.audit;

class PostgresAuditTest extends AuditContract {

    @Override
    AuditTestDatabase create() {
        return AuditTestDatabase.postgres();
    }
}
