package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.testing.postgres.CompatibleDatabase;
import org.junit.jupiter.api.condition.EnabledIf;

@EnabledIf(
        value = "dev.ratelimit.testing.postgres.CompatibleDatabase#canBeStarted",
        disabledReason = "CockroachDB is not tested: no Docker engine answers")
class CockroachDbTest extends CompatibleDatabaseContract {

    CockroachDbTest() {
        super(CompatibleDatabase.COCKROACHDB, "CockroachDB.*");
    }
}
