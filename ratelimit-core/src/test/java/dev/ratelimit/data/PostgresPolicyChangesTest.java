package dev.ratelimit.data;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.testing.Messages;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionTemplate;

class PostgresPolicyChangesTest extends PolicyChangesContract {

    @Override
    protected TestDatabase create() {
        return TestDatabase.postgres();
    }

    @Override
    protected DatabaseProduct product() {
        return DatabaseProduct.POSTGRESQL;
    }

    /** Leads nowhere as long as it is told to. */
    private static final class Interrupted extends DelegatingDataSource {

        private volatile boolean down;

        private Interrupted(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (down) {
                throw new SQLException("the network is down");
            }
            return super.getConnection();
        }
    }

    @Test
    void otherInstancesHearOfAChangeWithoutPolling() {
        StoredPolicies other = instance(NEVER, true, ChangeListener.NONE);
        awaitListeners(1);

        admin.limits().set("standard", window(77), OPS);
        await().until(() -> capacity(other, "standard") == 77);

        database.execute("UPDATE %srate_limit_configs SET definition = replace(definition, '77', '78')");
        await().until(() -> capacity(other, "standard") == 78);
    }

    @Test
    void aListenerThatWasCutOffListensAgain() {
        StoredPolicies other = instance(NEVER, true, ChangeListener.NONE);
        awaitListeners(1);
        database.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND query"
                        + " LIKE '%' || ? || '%'",
                channel());
        admin.limits().set("standard", window(77), OPS);

        await().until(() -> capacity(other, "standard") == 77);
    }

    @Test
    void aListenerOfAnotherSchemaHearsNothing() {
        assertThat(channel()).isNotEqualTo(channelOf(TestDatabase.postgres())).hasSizeLessThan(64);
    }

    @Test
    void aClosedInstanceGivesItsConnectionBack() {
        StoredPolicies other = instance(NEVER, true, ChangeListener.NONE);
        awaitListeners(1);

        other.close();
        awaitListeners(0);
    }

    @Test
    void isolationIsSetForATransactionAlone() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl());
        config.setConnectionInitSql("SET default_transaction_isolation = 'serializable'");
        try (HikariDataSource serializable = new HikariDataSource(config)) {
            PolicyDatabase policies = PolicyDatabase.postgres(serializable, database.schema());
            JdbcTemplate template = new JdbcTemplate(policies.dataSource());

            policies.inTransaction(() -> {
                assertThat(template.queryForObject("SHOW transaction_isolation", String.class))
                        .isEqualTo("read committed");
                assertThat(template.queryForObject("SHOW default_transaction_isolation", String.class))
                        .isEqualTo("serializable");
            });
        }
    }

    private String channel() {
        return channelOf(database);
    }

    private static String channelOf(TestDatabase database) {
        return String.valueOf(database.query("SELECT %srate_limit_channel() AS channel")
                .get(0)
                .get("channel"));
    }

    /** The last statement of a connection that listens is the one by which it began. */
    private void awaitListeners(int number) {
        await().until(() ->
                database.query("SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN \"' || ? || '\"'", channel())
                                .size()
                        == number);
    }

    @Test
    void whatIsInForceStaysWhileTheDatabaseIsDown() {
        admin.limits().set("standard", window(50), OPS);
        Interrupted interrupted = new Interrupted(database.dataSource());
        try (Messages messages = new Messages();
                StoredPolicies other = new StoredPolicies(
                        PolicyDatabase.postgres(interrupted, database.schema()),
                        CONFIGURED,
                        new StoredPolicies.Options(ofMillis(10), false, List.of(), clock))) {
            interrupted.down = true;
            admin.limits().set("standard", window(60), OPS);
            await().until(() -> !messages.warnings().isEmpty());
            assertThatThrownBy(other::refresh).isInstanceOf(DataAccessException.class);
            assertThat(capacity(other, "standard")).isEqualTo(50);

            interrupted.down = false;
            await().until(() -> capacity(other, "standard") == 60);
            await().until(() -> messages.all().stream()
                    .anyMatch(message ->
                            message.endsWith("again") && message.startsWith("Reading changes of limits and rules")));
            assertThat(messages.warnings()).hasSize(1);
        }
    }

    @Test
    void usesOfKeysThatCannotBeWrittenAreKept() {
        Interrupted interrupted = new Interrupted(database.dataSource());
        IssuedKey issued = admin.keys().create(NewApiKey.of("ci", "alice"), Change.by("ops"));
        try (StoredPolicies other = new StoredPolicies(
                PolicyDatabase.postgres(interrupted, database.schema()),
                CONFIGURED,
                new StoredPolicies.Options(NEVER, false, List.of(), clock))) {
            other.apiKeys().recognise(issued.secret());
            other.apiKeys().recognise(issued.secret());
            interrupted.down = true;
            assertThatThrownBy(() -> other.writeUses()).isInstanceOf(RuntimeException.class);
            other.apiKeys().recognise(issued.secret());
            interrupted.down = false;
        }
        assertThat(admin.keys().find(issued.id()).orElseThrow().totalRequests()).isEqualTo(3);
    }

    @Test
    void aTransactionOfTheApplicationIsNotJoined() {
        TransactionTemplate application =
                new TransactionTemplate(new DataSourceTransactionManager(database.dataSource()));
        application.executeWithoutResult(status -> {
            database.query("SELECT 1");
            admin.limits().set("standard", window(50), OPS);
            status.setRollbackOnly();
        });

        assertThat(capacity(instance(NEVER, false, ChangeListener.NONE), "standard"))
                .isEqualTo(50);
    }

    @Test
    void aReaderNeverMissesAChangeThatIsCommittedLater() throws Exception {
        StoredPolicies other = instance(NEVER, false, ChangeListener.NONE);
        try (Connection first = TestPostgres.instance().dataSource().getConnection();
                Connection second = TestPostgres.instance().dataSource().getConnection();
                Statement slow = first.createStatement();
                Statement fast = second.createStatement()) {
            String insert = "INSERT INTO \"" + database.schema()
                    + "\".rate_limit_configs (resource, version, definition) VALUES ('%s', 1, 'base: small')";
            first.setAutoCommit(false);
            slow.execute(insert.formatted("slow"));
            fast.execute("SET lock_timeout = '100ms'");
            // the second one waits until the first one has committed
            assertThatThrownBy(() -> fast.execute(insert.formatted("fast"))).hasMessageContaining("lock timeout");
            fast.execute("RESET lock_timeout");
            other.refresh();
            first.commit();
            first.setAutoCommit(true);
            fast.execute(insert.formatted("fast"));
        }
        other.refresh();

        assertThat(other.limits().names()).contains("slow", "fast");
        List<Long> revisions = database.query("SELECT revision FROM %srate_limit_changes ORDER BY revision").stream()
                .map(row -> ((Number) row.get("revision")).longValue())
                .toList();
        assertThat(revisions).containsExactly(1L, 2L);
    }

    @Test
    void aTableThatIsEmptiedAtOnceIsSeen() throws Exception {
        admin.limits().set("standard", window(50), OPS);
        StoredPolicies other = instance(NEVER, false, ChangeListener.NONE);
        assertThat(capacity(other, "standard")).isEqualTo(50);

        try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("TRUNCATE \"" + database.schema() + "\".rate_limit_configs");
        }
        other.refresh();

        assertThat(capacity(other, "standard")).isNotEqualTo(50);
    }
}
