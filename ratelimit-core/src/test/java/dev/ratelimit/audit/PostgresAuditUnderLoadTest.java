package dev.ratelimit.audit;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;

class PostgresAuditUnderLoadTest extends AuditUnderLoadContract {

    @Override
    AuditTestDatabase create() {
        return AuditTestDatabase.postgres();
    }

    /** In the same schema. */
    @Override
    LimitStore store(AuditTestDatabase database) {
        return new PostgresLimitStore(database.dataSource(), database.address().get(1));
    }
}
