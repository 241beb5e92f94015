package dev.ratelimit.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.audit.report.AuditEntry;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DelegatingDataSource;

class PostgresAuditTest extends AuditContract {

    @Override
    AuditTestDatabase create() {
        return AuditTestDatabase.postgres();
    }

    /** Rows with every value, and with as few as there can be. Some need more room than others. */
    @Test
    void copyAndInsertStoreTheSameRows() throws SQLException {
        PostgresAuditDatabase copying = (PostgresAuditDatabase) database.open();
        AuditTestDatabase other = AuditTestDatabase.postgres();
        AuditDatabase inserting = other.open(HiddenDriver::new);
        List<AuditEntry> rows = new ArrayList<>(List.of(bare(), full("Zoë \u2603 \ud83d\ude00\t\\N")));
        for (int i = 0; i < 100; i++) {
            rows.add(full("x".repeat(10 * i)));
        }

        copying.add(rows);
        inserting.add(rows);

        String all = "SELECT * FROM %srate_limit_audit_logs ORDER BY log_id";
        assertThat(database.query(all)).hasSize(102).isEqualTo(other.query(all));
    }

    private AuditEntry bare() {
        return new AuditEntry(
                UUID.randomUUID(),
                clock.instant(),
                AuditDecision.ALLOWED,
                1,
                AuditEntry.Sender.NOBODY,
                AuditEntry.Exchange.NO_EXCHANGE,
                new AuditEntry.Cause(null, null, null, null, 0, 0, null, false),
                Duration.ZERO,
                new AuditEntry.Origin("", ""));
    }

    private AuditEntry full(String user) {
        return new AuditEntry(
                UUID.randomUUID(),
                clock.instant().plusNanos(123_456_000),
                AuditDecision.THROTTLED,
                Long.MAX_VALUE,
                new AuditEntry.Sender(user, "key-1", "2001:db8::1"),
                new AuditEntry.Exchange("GET", "/api/{id}", 429),
                new AuditEntry.Cause("rule", 3, "api", "user:" + user, 11, 10, Duration.ofDays(30), true),
                Duration.ofNanos(250_000),
                new AuditEntry.Origin("server-1", "eu"));
    }

    /** Connections of a pool that do not lead to the driver. */
    private static final class HiddenDriver extends DelegatingDataSource {

        private HiddenDriver(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) ->
                            method.getName().equals("isWrapperFor") ? false : method.invoke(connection, arguments));
        }
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
