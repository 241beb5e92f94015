package dev.ratelimit.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;

class PostgresAuditTest extends AuditContract {

    @Override
    AuditTestDatabase create() {
        return AuditTestDatabase.postgres();
    }

    @Test
    void monthThatCannotBeMadeAheadStopsNoWrites() {
        audit.flush();
        database.execute("ALTER FUNCTION %srate_limit_make_partitions(date) RENAME TO hidden");
        clock.move(Duration.ofHours(2));
        audit.recorded(TestRequests.throttled("alice", "api"));

        assertThatThrownBy(audit::flush).isInstanceOf(DataAccessException.class);

        assertThat(database.count("rate_limit_audit_logs")).isEqualTo(1);
        assertThat(audit.waiting()).isZero();

        database.execute("ALTER FUNCTION %shidden(date) RENAME TO rate_limit_make_partitions");
        clock.move(Duration.ofMinutes(2));
        audit.flush();
    }

    @Test
    void rowThatTheDatabaseRefusesIsDroppedAloneAndCounted() {
        database.execute("ALTER TABLE %srate_limit_audit_logs ADD CHECK (user_id <> 'eve')");
        database.execute("ALTER TABLE %srate_limit_metrics ADD CHECK (user_id <> 'user:eve')");
        for (int i = 0; i < 100; i++) {
            audit.recorded(TestRequests.throttled("user" + i, "api"));
        }
        audit.recorded(TestRequests.throttled("eve", "api"));
        audit.recorded(TestRequests.throttled("eve", "api"));

        audit.flush();

        assertThat(database.count("rate_limit_audit_logs")).isEqualTo(100);
        assertThat(audit.dropped()).isEqualTo(2);
        assertThat(audit.waiting()).isZero();
        assertThat(database.number("SELECT sum(total) FROM %srate_limit_metrics WHERE granularity = 'minute'"
                        + " AND resource = 'api'"))
                .isEqualTo(100);
        assertThat(audit.droppedMinutes()).isEqualTo(1);
    }
}
