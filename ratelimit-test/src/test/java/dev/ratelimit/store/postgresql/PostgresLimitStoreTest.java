package dev.ratelimit.store.postgresql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.TestStores;
import dev.ratelimit.test.store.LimitStoreContract;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresLimitStoreTest extends LimitStoreContract {

    private static final String SCHEMA = TestPostgres.instance().freshSchema();

    @Override
    protected LimitStore open(InstantSource clock) throws SQLException {
        LimitStore empty = TestStores.postgres(SCHEMA, clock);
        try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("TRUNCATE %1$s.rate_limits, %1$s.rate_limit_penalties".formatted(SCHEMA));
        }
        return empty;
    }

    @Override
    protected boolean isStored(String subject) throws SQLException {
        try (Connection connection = ((PostgresLimitStore) store).connect();
                PreparedStatement select =
                        connection.prepareStatement("SELECT 1 FROM " + SCHEMA + ".rate_limits WHERE user_id = ?")) {
            select.setString(1, subject);
            return select.executeQuery().next();
        }
    }

    @Override
    protected String databaseInUse() throws SQLException {
        try (Connection connection = ((PostgresLimitStore) store).connect()) {
            return connection.getMetaData().getDatabaseProductName() + " "
                    + connection.getMetaData().getDatabaseProductVersion();
        }
    }

    @Override
    protected String expectedDatabase() {
        return "PostgreSQL 1[4-9].*";
    }

    /** A time from before the lock would set the clock of the row back, and the next would refill the same span again. */
    @Test
    void clockIsReadWhenTheRowIsHeldNotWhenTheCallBegins() throws Exception {
        Limit limit = Limit.named("held")
                .algorithm(new TokenBucket(10, Rate.perSecond(1)))
                .build();
        Operation decide = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, limit, 1)));
        PostgresLimitStore onItsOwnClock =
                new PostgresLimitStore(TestPostgres.instance().dataSource(), SCHEMA);
        onItsOwnClock.decide(List.of(decide));
        try (Connection holder = TestPostgres.instance().dataSource().getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT 1 FROM " + SCHEMA + ".rate_limits FOR UPDATE");
            CompletableFuture<Answer> waiting = CompletableFuture.supplyAsync(
                    () -> onItsOwnClock.decide(List.of(decide)).get(0));
            Awaitility.await().until(() -> isWaitingForALock(statement));
            long held = micros(statement);
            holder.commit();

            assertThat(waiting.get(10, TimeUnit.SECONDS).now()).isGreaterThanOrEqualTo(held);
        }
    }

    static Stream<Limit.Builder> everyAlgorithm() {
        return Stream.of(
                Limit.named("each").algorithm(new TokenBucket(2, Rate.of(1, Duration.ofDays(365)))),
                Limit.named("each").algorithm(new LeakyBucket(2, Rate.of(1, Duration.ofDays(365)))),
                Limit.named("each").algorithm(new FixedWindow(2, Duration.ofDays(3_660))),
                Limit.named("each").algorithm(new SlidingWindow(2, Duration.ofDays(3_660))),
                Limit.named("each").algorithm(new SlidingLog(2, Duration.ofDays(365))));
    }

    /** The statements differ from those on the clock of a test. */
    @ParameterizedTest
    @MethodSource("everyAlgorithm")
    void everyAlgorithmDecidesOnTheClockOfTheDatabase(Limit.Builder each) throws Exception {
        Limit limit = each.build();
        PostgresLimitStore onItsOwnClock =
                new PostgresLimitStore(TestPostgres.instance().dataSource(), SCHEMA);
        Operation alice = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, limit, 1)));
        Operation bob = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(BOB, limit, 1)));
        long before = clockOfTheDatabase();

        List<Answer> answers = new ArrayList<>(onItsOwnClock.decide(List.of(alice))); // for a lone request
        answers.addAll(onItsOwnClock.decide(List.of(alice, bob))); // for many
        answers.addAll(onItsOwnClock.decide(List.of(bob)));

        long after = clockOfTheDatabase();
        assertThat(answers).allSatisfy(answer -> {
            assertThat(answer.allowed()).isTrue();
            assertThat(answer.now()).isBetween(before, after);
        });
        assertThat(onItsOwnClock.decide(List.of(alice, bob)))
                .extracting(Answer::allowed)
                .containsExactly(false, false);
    }

    private static long clockOfTheDatabase() throws SQLException {
        try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            return micros(statement);
        }
    }

    private static boolean isWaitingForALock(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT count(*) FROM pg_stat_activity"
                + " WHERE wait_event_type = 'Lock' AND query LIKE '%rate_limit%' AND pid <> pg_backend_pid()")) {
            return row.next() && row.getInt(1) > 0;
        }
    }

    private static long micros(Statement statement) throws SQLException {
        try (ResultSet row =
                statement.executeQuery("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")) {
            row.next();
            return row.getLong(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"read committed", "repeatable read", "serializable"})
    void groupsDoNotFailForTheIsolationThatTheDatabasePrefers(String isolation) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl());
        config.setMaximumPoolSize(4);
        config.setConnectionInitSql("SET default_transaction_isolation = '" + isolation + "'");
        Limit limit = Limit.named("isolated")
                .algorithm(new FixedWindow(100, Duration.ofDays(365)))
                .build();
        try (HikariDataSource pool = new HikariDataSource(config)) {
            PostgresLimitStore strict = new PostgresLimitStore(pool, SCHEMA);
            AtomicInteger admitted = new AtomicInteger();
            List<CompletableFuture<Void>> callers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                callers.add(CompletableFuture.runAsync(() -> {
                    for (int n = 0; n < 50; n++) {
                        Operation decide =
                                new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(BOB, limit, 1)));
                        if (strict.decide(List.of(decide)).get(0).allowed()) {
                            admitted.incrementAndGet();
                        }
                    }
                }));
            }
            CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            assertThat(admitted).hasValue(100);
        }
    }

    /** Under another isolation than read committed, the statement begins a transaction of its own. */
    @ParameterizedTest
    @ValueSource(strings = {"read committed", "repeatable read"})
    void failedGroupLeavesNoTransactionOnItsConnection(String isolation) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl());
        config.setMaximumPoolSize(1);
        config.setConnectionInitSql("SET default_transaction_isolation = '" + isolation + "'");
        Limit limit = Limit.named("held-up")
                .algorithm(new FixedWindow(9, Duration.ofDays(365)))
                .build();
        List<Operation> group =
                List.of(new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, limit, 1))));
        try (HikariDataSource pool = new HikariDataSource(config);
                Connection holder = TestPostgres.instance().dataSource().getConnection();
                Statement statement = holder.createStatement()) {
            PostgresLimitStore onlyConnection =
                    new PostgresLimitStore(pool, SCHEMA).withDeadline(Duration.ofMillis(100));
            onlyConnection.decide(group);
            holder.setAutoCommit(false);
            statement.execute("SELECT 1 FROM " + SCHEMA + ".rate_limits FOR UPDATE");

            LockedKeysException locked =
                    catchThrowableOfType(LockedKeysException.class, () -> onlyConnection.decide(group));
            holder.rollback();

            assertThat(locked.keys()).containsExactly(StateKey.of(ALICE, limit.name()));
            assertThat(onlyConnection.decide(group).get(0).first().remaining()).isEqualTo(7);
        }
    }

    /** With autocommit, one statement is one round trip and one commit; nothing else is asked of the connection. */
    @Test
    void groupIsOneStatementAndLeavesNothingInTheSession() {
        List<String> calls = new ArrayList<>();
        DataSource watched = watched(TestPostgres.instance().dataSource(), calls);
        PostgresLimitStore plain = new PostgresLimitStore(watched, SCHEMA);
        Limit limit = Limit.named("one-call")
                .algorithm(new FixedWindow(9, Duration.ofDays(365)))
                .build();
        Operation decide = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, limit, 1)));
        plain.decide(List.of(decide)); // asks once for the isolation of the database
        calls.clear();

        plain.decide(List.of(decide, decide, decide));

        assertThat(calls).containsExactly("getAutoCommit", "prepareStatement", "close");
    }

    @ParameterizedTest
    @CsvSource({"1, true, on", "2, true, on", "1, false, off", "2, false, off"})
    void onlyTheGroupItselfIsToldWhetherToWaitForTheDisk(int size, boolean durable, String expected) throws Exception {
        String schema = TestPostgres.instance().freshSchema();
        TestStores.postgres(schema, InstantSource.system());
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl());
        config.setMaximumPoolSize(1);
        config.setConnectionInitSql("SET synchronous_commit = on");
        try (HikariDataSource pool = new HikariDataSource(config)) {
            query(pool, """
                    CREATE TABLE %1$s.seen (setting text, patience text);
                    CREATE FUNCTION %1$s.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        INSERT INTO %1$s.seen
                        VALUES (current_setting('synchronous_commit'), current_setting('lock_timeout'));
                        RETURN NULL;
                    END $$;
                    CREATE TRIGGER see AFTER INSERT OR UPDATE ON %1$s.rate_limits
                    FOR EACH ROW EXECUTE FUNCTION %1$s.see();
                    SELECT ''
                    """.formatted(schema));
            PostgresLimitStore store = new PostgresLimitStore(pool, schema);
            Limit limit = Limit.named("durable")
                    .algorithm(new FixedWindow(9, Duration.ofDays(365)))
                    .build();
            Operation decide = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, limit, 1)));

            (durable ? store : store.withoutWaitingForTheDisk()).decide(Collections.nCopies(size, decide));

            assertThat(query(pool, "SELECT string_agg(setting || ' ' || patience, ',') FROM " + schema + ".seen"))
                    .isEqualTo(expected + " 1s");
            assertThat(query(pool, "SHOW synchronous_commit")).isEqualTo("on");
            assertThat(query(pool, "SHOW lock_timeout")).isEqualTo("0");
        }
    }

    /** As if the server behind the connection had become a standby: the next group asks for another connection. */
    @Test
    void readOnlyConnectionIsNotUsedAgain() throws Exception {
        String schema = TestPostgres.instance().freshSchema();
        TestStores.postgres(schema, InstantSource.system());
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl());
        config.setMaximumPoolSize(1);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            PostgresLimitStore store = new PostgresLimitStore(pool, schema);
            Limit limit = Limit.named("read-only")
                    .algorithm(new FixedWindow(9, Duration.ofDays(365)))
                    .build();
            Operation decide = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, limit, 1)));
            query(pool, "SELECT set_config('default_transaction_read_only', 'on', false)");

            assertThatThrownBy(() -> store.decide(List.of(decide)))
                    .isInstanceOf(LimitStoreException.class)
                    .hasMessageContaining("read-only transaction")
                    .hasMessageEndingWith("; connect to the primary: if the JDBC URL names several hosts, add"
                            + " targetServerType=primary to it");

            assertThat(store.decide(List.of(decide))).hasSize(1);
        }
    }

    /** Requests admitted before the rest of the group is retried are not charged again. */
    @Test
    void onlyWhatFailedIsTriedAgain() {
        Limit roomy = Limit.named("roomy")
                .algorithm(new FixedWindow(10, Duration.ofDays(365)))
                .build();
        Limit full = Limit.named("full")
                .algorithm(new FixedWindow(1, Duration.ofDays(365)))
                .build();
        Operation onRoomy = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, roomy, 1)));
        Operation onFull = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, full, 1)));
        store.decide(List.of(onFull));
        AtomicInteger failures = new AtomicInteger();
        DataSource deadlocked = proxy(DataSource.class, (method, arguments) -> {
            Object result = method.invoke(TestPostgres.instance().dataSource(), arguments);
            return result instanceof Connection connection
                    ? proxy(Connection.class, (called, with) -> {
                        boolean locking = called.getName().equals("prepareStatement")
                                && with[0].toString().startsWith("BEGIN");
                        if (locking && failures.incrementAndGet() <= 3) {
                            throw new SQLException("deadlock detected", "40P01");
                        }
                        return called.invoke(connection, with);
                    })
                    : result;
        });

        List<Answer> answers = new PostgresLimitStore(deadlocked, SCHEMA).decide(List.of(onRoomy, onFull));

        assertThat(failures).hasValue(4);
        assertThat(answers.get(1).allowed()).isFalse();
        assertThat(answers.get(0).verdicts().get(0).remaining()).isEqualTo(9);
        assertThat(store.decide(List.of(onRoomy)).get(0).verdicts().get(0).remaining())
                .isEqualTo(8);
    }

    /** Or it would be charged again by whoever asks again. */
    @Test
    void failureTellsWhatWasDecidedBefore() {
        Limit roomy = Limit.named("roomy")
                .algorithm(new FixedWindow(10, Duration.ofDays(365)))
                .build();
        Operation admitted = new Operation(Operation.Kind.DECIDE, List.of(new Operation.Demand(ALICE, roomy, 1)));
        Operation reset = new Operation(Operation.Kind.RESET, List.of(new Operation.Demand(BOB, roomy, 1)));
        DataSource failing = proxy(DataSource.class, (method, arguments) -> {
            Object result = method.invoke(TestPostgres.instance().dataSource(), arguments);
            return result instanceof Connection connection
                    ? proxy(Connection.class, (called, with) -> {
                        if (called.getName().equals("prepareStatement")
                                && with[0].toString().startsWith("BEGIN")) {
                            throw new SQLException("out of memory", "53200");
                        }
                        return called.invoke(connection, with);
                    })
                    : result;
        });

        LimitStoreException failure = catchThrowableOfType(
                LimitStoreException.class,
                () -> new PostgresLimitStore(failing, SCHEMA).decide(List.of(reset, admitted)));

        assertThat(failure.answers().get(0)).isNull();
        assertThat(failure.answers().get(1).first().remaining()).isEqualTo(9);
    }

    /** Six of these rows fill a page, of others forty. */
    @Test
    void upkeepHurriesAlsoWhereRowsAreLarge() {
        Limit limit = Limit.named("large")
                .algorithm(new SlidingLog(100, Duration.ofMinutes(1)))
                .build();
        List<Operation> group = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            Operation.Demand demand = new Operation.Demand(Subject.user("user" + i), limit, 100);
            group.add(new Operation(Operation.Kind.DECIDE, List.of(demand)));
        }
        store.decide(group);
        clock.advance(Duration.ofMinutes(2));

        assertThat(store.prune(0).progress()).isEqualTo(Pruned.Progress.MANY_EXPIRED);
    }

    private static String query(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            boolean rows = statement.execute(sql);
            while (!rows) {
                rows = statement.getMoreResults();
            }
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                return row.getString(1);
            }
        }
    }

    private static DataSource watched(DataSource dataSource, List<String> calls) {
        return proxy(DataSource.class, (method, arguments) -> {
            Object result = method.invoke(dataSource, arguments);
            return result instanceof Connection connection
                    ? proxy(Connection.class, (called, with) -> {
                        calls.add(called.getName());
                        return called.invoke(connection, with);
                    })
                    : result;
        });
    }

    private interface Call {
        Object on(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> call.on(method, arguments)));
    }
}
