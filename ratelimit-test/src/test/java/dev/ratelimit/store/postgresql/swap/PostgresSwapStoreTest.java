package dev.ratelimit.store.postgresql.swap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.TestStores;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.test.store.LimitStoreContract;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.lang.reflect.InvocationTargetException;
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
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresSwapStoreTest extends LimitStoreContract {

    private static final String SCHEMA = TestPostgres.instance().freshSchema();
    private static final Duration AGES = Duration.ofDays(3650);
    private static final Limit NINE =
            Limit.named("nine").algorithm(new FixedWindow(9, AGES)).build();
    private static final Limit PUNISHED = Limit.named("punished")
            .algorithm(new FixedWindow(1, AGES))
            .penalty(100, Duration.ofMinutes(1))
            .build();

    private final DataSource dataSource = TestPostgres.instance().dataSource();

    @Override
    protected LimitStore open(InstantSource clock) throws SQLException {
        LimitStore empty = TestStores.postgresSwap(SCHEMA, clock);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("TRUNCATE %1$s.rate_limits, %1$s.rate_limit_penalties".formatted(SCHEMA));
        }
        return empty;
    }

    @Override
    protected boolean isStored(String subject) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement select =
                        connection.prepareStatement("SELECT 1 FROM " + SCHEMA + ".rate_limits WHERE user_id = ?")) {
            select.setString(1, subject);
            return select.executeQuery().next();
        }
    }

    @Override
    protected String databaseInUse() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return connection.getMetaData().getDatabaseProductName();
        }
    }

    @Override
    protected String expectedDatabase() {
        return "PostgreSQL";
    }

    private static Operation decide(Subject subject, Limit... limits) {
        List<Demand> demands = new ArrayList<>();
        for (Limit limit : limits) {
            demands.add(new Demand(subject, limit, 1));
        }
        return new Operation(Kind.DECIDE, demands);
    }

    private long used(Subject subject, Limit limit) throws SQLException {
        return number(
                "SELECT coalesce(sum(request_count), 0) FROM %s.rate_limits WHERE user_id = '%s' AND resource = '%s'"
                        .formatted(SCHEMA, subject.text(), limit.name()));
    }

    private long violations(Subject subject, Limit limit) throws SQLException {
        return number(
                "SELECT coalesce(sum(violation_count), 0) FROM %s.rate_limit_penalties WHERE user_id = '%s' AND resource = '%s'"
                        .formatted(SCHEMA, subject.text(), limit.name()));
    }

    private long number(String query) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** A proxy or a driver may send a write again that had arrived: the second time, it finds another version. */
    @Test
    void writeThatIsSentTwiceChargesOnce() throws Exception {
        AtomicInteger repeated = new AtomicInteger();
        LimitStore twice = new PostgresSwapStore(
                watched(dataSource, (statement, run) -> {
                    if (isSwap(statement)) {
                        run.once();
                        repeated.incrementAndGet();
                    }
                    return run.once();
                }),
                SCHEMA);

        for (int i = 1; i <= 3; i++) {
            Answer answer = twice.decide(decide(ALICE, NINE));
            assertThat(answer.allowed()).isTrue();
            assertThat(answer.first().remaining()).isEqualTo(9 - i);
        }

        assertThat(repeated).hasValueGreaterThanOrEqualTo(3);
        assertThat(used(ALICE, NINE)).isEqualTo(3);
    }

    /** The connection is lost after the commit has arrived: the request was charged, and must not be admitted. */
    @Test
    void commitOfUnknownOutcomeAdmitsNobodyAndIsNotTriedAgain() throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        LimitStore breaking = new PostgresSwapStore(
                watched(dataSource, (statement, run) -> {
                    Object result = run.once();
                    if (isSwap(statement) && broken.get()) {
                        throw new SQLException("connection reset", "08006");
                    }
                    return result;
                }),
                SCHEMA);
        int admitted = 0;

        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> breaking.decide(decide(ALICE, NINE)))
                    .isInstanceOf(LimitStoreException.class)
                    .hasMessageContaining("connection reset");
        }
        broken.set(false);
        while (breaking.decide(decide(ALICE, NINE)).allowed()) {
            admitted++;
        }

        assertThat(admitted).isEqualTo(6);
        assertThat(used(ALICE, NINE)).isEqualTo(9);
    }

    /** Between the read and the write of a group, another instance changes one of its rows. */
    @Test
    void partThatLosesOneRowWritesNoneAndOthersAreNotHeldUp() throws Exception {
        Limit other = Limit.named("other").algorithm(new SlidingLog(9, AGES)).build();
        LimitStore rival = new PostgresLimitStore(dataSource, SCHEMA);
        rival.decide(decide(ALICE, NINE));
        AtomicInteger swaps = new AtomicInteger();
        LimitStore losing = new PostgresSwapStore(
                watched(dataSource, (statement, run) -> {
                    if (isSwap(statement) && swaps.getAndIncrement() == 0) {
                        assertThat(rival.decide(decide(ALICE, NINE)).allowed()).isTrue();
                    }
                    return run.once();
                }),
                SCHEMA);

        List<Answer> answers =
                losing.decide(List.of(decide(ALICE, NINE, other), decide(BOB, NINE, other), decide(BOB, NINE)));

        assertThat(answers).allMatch(Answer::allowed);
        assertThat(answers.get(0).first().remaining()).isEqualTo(6);
        assertThat(swaps).as("torn, winners, losers").hasValue(3);
        assertThat(used(ALICE, NINE)).isEqualTo(3);
        assertThat(used(BOB, NINE)).isEqualTo(2);
        assertThat(number("SELECT sum(length(log)) / 8 FROM " + SCHEMA + ".rate_limits WHERE resource = 'other'"))
                .isEqualTo(2);
    }

    /** Locks count a violation without a word about it in the row of the state. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void violationsOfBothWaysAreAllCounted(boolean rivalSwaps) throws Exception {
        LimitStore rival =
                rivalSwaps ? new PostgresSwapStore(dataSource, SCHEMA) : new PostgresLimitStore(dataSource, SCHEMA);
        assertThat(rival.decide(decide(ALICE, PUNISHED)).allowed()).isTrue();
        assertThat(rival.decide(decide(ALICE, PUNISHED)).allowed()).isFalse();
        AtomicInteger swaps = new AtomicInteger();
        LimitStore losing = new PostgresSwapStore(
                watched(dataSource, (statement, run) -> {
                    if (isSwap(statement) && swaps.getAndIncrement() == 0) {
                        assertThat(rival.decide(decide(ALICE, PUNISHED)).allowed())
                                .isFalse();
                    }
                    return run.once();
                }),
                SCHEMA);

        assertThat(losing.decide(decide(ALICE, PUNISHED)).allowed()).isFalse();

        assertThat(swaps).hasValue(2);
        assertThat(violations(ALICE, PUNISHED)).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resetIsNotUndoneByADecisionThatReadTheRowBefore(boolean rivalSwaps) throws Exception {
        LimitStore rival =
                rivalSwaps ? new PostgresSwapStore(dataSource, SCHEMA) : new PostgresLimitStore(dataSource, SCHEMA);
        for (int i = 0; i < 5; i++) {
            rival.decide(decide(ALICE, NINE));
        }
        AtomicInteger swaps = new AtomicInteger();
        LimitStore losing = new PostgresSwapStore(
                watched(dataSource, (statement, run) -> {
                    if (isSwap(statement) && swaps.getAndIncrement() == 0) {
                        rival.decide(new Operation(Kind.RESET, List.of(new Demand(ALICE, NINE, 1))));
                    }
                    return run.once();
                }),
                SCHEMA);

        assertThat(losing.decide(decide(ALICE, NINE)).first().remaining()).isEqualTo(8);

        assertThat(used(ALICE, NINE)).isEqualTo(1);
    }

    /** A denial needs no write, so it must come from rows that were read for it. */
    @Test
    void denialIsDecidedOnRowsOfThisCall() {
        Limit one = Limit.named("one").algorithm(new FixedWindow(1, AGES)).build();
        LimitStore here = new PostgresSwapStore(dataSource, SCHEMA);
        here.decide(decide(ALICE, one));
        assertThat(here.decide(decide(ALICE, one)).allowed()).isFalse();

        new PostgresSwapStore(dataSource, SCHEMA).decide(new Operation(Kind.RESET, List.of(new Demand(ALICE, one, 1))));

        assertThat(here.decide(decide(ALICE, one)).allowed()).isTrue();
    }

    /** Somebody else always comes first: in the end it says so, and has charged nothing. */
    @Test
    void keyThatIsLostAgainAndAgainIsReportedWithinTheDeadline() throws Exception {
        LimitStore rival = new PostgresLimitStore(dataSource, SCHEMA);
        Limit endless = Limit.named("endless")
                .algorithm(new FixedWindow(1_000_000, AGES))
                .build();
        AtomicInteger rivals = new AtomicInteger();
        PostgresSwapStore losing = new PostgresSwapStore(
                        watched(dataSource, (statement, run) -> {
                            if (isSwap(statement)) {
                                rival.decide(decide(ALICE, endless));
                                rivals.incrementAndGet();
                            }
                            return run.once();
                        }),
                        SCHEMA)
                .withDeadline(Duration.ofMillis(300));

        LockedKeysException lost = catchThrowableOfType(
                LockedKeysException.class, () -> losing.decide(List.of(decide(ALICE, endless), decide(BOB, endless))));

        assertThat(lost.keys()).isEqualTo(Set.of(StateKey.of(ALICE, "endless")));
        assertThat(lost.answers().get(0)).isNull();
        assertThat(lost.answers().get(1).allowed()).isTrue();
        assertThat(used(ALICE, endless)).isEqualTo(rivals.get());
        assertThat(used(BOB, endless)).isEqualTo(1);
        assertThat(losing.isContended(StateKey.of(ALICE, "endless"))).isTrue();
        assertThat(losing.isContended(StateKey.of(BOB, "endless"))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"read committed", "repeatable read", "serializable"})
    void exactUnderEveryIsolation(String isolation) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl());
        config.setMaximumPoolSize(4);
        config.setConnectionInitSql("SET default_transaction_isolation = '" + isolation + "'");
        Limit limit = Limit.named("isolated")
                .algorithm(new FixedWindow(100, AGES))
                .penalty(1_000, Duration.ofMinutes(1))
                .build();
        Limit second = Limit.named("second")
                .algorithm(new TokenBucket(1_000, Rate.of(1, AGES)))
                .build();
        try (HikariDataSource pool = new HikariDataSource(config)) {
            // The transactions of the store name their isolation: here they take that of the connection.
            DataSource unnamed = rewriting(pool, " ISOLATION LEVEL READ COMMITTED", "");
            AtomicInteger admitted = new AtomicInteger();
            List<CompletableFuture<Void>> callers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                callers.add(CompletableFuture.runAsync(() -> {
                    LimitStore strict = new PostgresSwapStore(unnamed, SCHEMA).withDeadline(Duration.ofSeconds(30));
                    for (int n = 0; n < 50; n++) {
                        if (strict.decide(decide(BOB, limit, second)).allowed()) {
                            admitted.incrementAndGet();
                        }
                    }
                }));
            }
            CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            assertThat(admitted).hasValue(100);
            assertThat(used(BOB, limit)).isEqualTo(100);
            assertThat(violations(BOB, limit)).isEqualTo(100);
        }
    }

    /** Nothing that the engines lack: see docs/how-to/postgresql-compatible.md. */
    @Test
    void usesNeitherLocksNorFunctionsNorSessions() {
        List<String> texts = new ArrayList<>();
        PostgresSwapStore watched = new PostgresSwapStore(
                watched(dataSource, (statement, run) -> {
                    texts.add(statement);
                    return run.once();
                }),
                SCHEMA);
        watched.decide(List.of(decide(ALICE, PUNISHED, NINE), decide(ALICE, PUNISHED, NINE), decide(BOB, NINE)));
        watched.decide(List.of(decide(BOB, NINE)));
        watched.decide(new Operation(Kind.RESET, List.of(new Demand(ALICE, NINE, 1))));
        watched.prune(0);

        assertThat(texts).hasSizeGreaterThan(6).allSatisfy(text -> {
            assertThat(text)
                    .doesNotContainIgnoringCase("FOR UPDATE")
                    .doesNotContainIgnoringCase("FOR NO KEY")
                    .doesNotContainIgnoringCase("ctid")
                    .doesNotContainIgnoringCase("xmin")
                    .doesNotContainIgnoringCase("advisory")
                    .doesNotContainIgnoringCase("LATERAL")
                    .doesNotContainPattern("(?i)\\bSET (?!LOCAL|[a-z_]+ = )");
            assertThat(isSwap(text) && text.contains("clock_timestamp")).isFalse();
        });
    }

    private static boolean isSwap(String statement) {
        return statement.contains("INSERT INTO \"" + SCHEMA + "\".rate_limits ");
    }

    private interface Run {
        Object once() throws Throwable;
    }

    private interface Watch {
        Object execute(String statement, Run run) throws Throwable;
    }

    private interface Call {
        Object on(Method method, Object[] arguments) throws Throwable;
    }

    /** Watches every {@code PreparedStatement.execute}. */
    private static DataSource watched(DataSource dataSource, Watch watch) {
        return proxy(DataSource.class, (ofSource, given) -> {
            Object result = ofSource.invoke(dataSource, given);
            return !(result instanceof Connection connection)
                    ? result
                    : proxy(Connection.class, (ofConnection, arguments) -> {
                        Object made = ofConnection.invoke(connection, arguments);
                        return !(made instanceof PreparedStatement statement)
                                ? made
                                : proxy(PreparedStatement.class, (method, with) -> {
                                    boolean plain = method.getName().equals("execute") && with == null;
                                    return plain
                                            ? watch.execute((String) arguments[0], () -> method.invoke(statement, with))
                                            : method.invoke(statement, with);
                                });
                    });
        });
    }

    private static DataSource rewriting(DataSource dataSource, String text, String by) {
        return proxy(DataSource.class, (ofSource, given) -> {
            Object result = ofSource.invoke(dataSource, given);
            return !(result instanceof Connection connection)
                    ? result
                    : proxy(
                            Connection.class,
                            (method, with) -> method.getName().equals("prepareStatement")
                                    ? connection.prepareStatement(((String) with[0]).replace(text, by))
                                    : method.invoke(connection, with));
        });
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, with) -> {
            try {
                return call.on(method, with);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }
}
