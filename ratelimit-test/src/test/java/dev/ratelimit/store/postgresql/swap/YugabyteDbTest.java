package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.testing.postgres.CompatibleDatabase;
import org.junit.jupiter.api.condition.EnabledIf;

@EnabledIf(
        value = "dev.ratelimit.testing.postgres.CompatibleDatabase#canBeStarted",
        disabledReason = "YugabyteDB is not tested: no Docker engine answers")
class YugabyteDbTest extends CompatibleDatabaseContract {

    YugabyteDbTest() {
        super(CompatibleDatabase.YUGABYTEDB, ".*-YB-.*");
    }
}
