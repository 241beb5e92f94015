package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.testing.postgres.CompatibleDatabase;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.condition.EnabledIf;

@EnabledIf(
        value = "dev.ratelimit.testing.postgres.CompatibleDatabase#canBeStarted",
        disabledReason = "Citus is not tested: no Docker engine answers")
class CitusTest extends CompatibleDatabaseContract {

    CitusTest() {
        super(CompatibleDatabase.CITUS, "PostgreSQL.*");
    }

    /** Subjects are spread over shards; state and penalties of a subject stay together. */
    @Override
    void prepare(Statement statement) throws SQLException {
        statement.execute("SELECT create_distributed_table('ratelimit.rate_limits', 'user_id')");
        statement.execute("SELECT create_distributed_table('ratelimit.rate_limit_penalties', 'user_id',"
                + " colocate_with => 'ratelimit.rate_limits')");
    }
}
