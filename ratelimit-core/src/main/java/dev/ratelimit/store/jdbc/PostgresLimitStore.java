package dev.ratelimit.store.jdbc;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Micros;
import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.Admission;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps state in PostgreSQL. Most groups have room and are one plain statement in a transaction of its own, one round trip:
 * see {@link PostgresUpsert}. Whatever else there is to decide is one call of one function, in one transaction, too. No
 * session state is used, so connections may come through a proxy that pools by transaction. The schema must be there:
 * see {@code dev.ratelimit.schema}.
 */
public final class PostgresLimitStore implements LimitStore {

    public static final String DEFAULT_SCHEMA = "public";

    private static final Pattern SCHEMA = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    private static final String ARGUMENTS = "?, ".repeat(30) + "?";

    private static final Outcome[] OUTCOMES = {Outcome.ALLOWED, Outcome.THROTTLED, Outcome.BLOCKED};

    private static final String SERIALIZATION_FAILURE = "40001";
    private static final String DEADLOCK_DETECTED = "40P01";
    private static final int MOST_TRIES = 5;

    /** The function, the table or the schema does not exist. */
    private static final Set<String> MISSING_SCHEMA = Set.of("42883", "42P01", "3F000");

    private final DataSource dataSource;
    private final String schema;
    private final @Nullable InstantSource clock;
    private final @Nullable Duration timeout;
    private final boolean durable;
    private final String decide;
    private final String decideLinked;
    private final PostgresUpsert upsert;
    private final PostgresPruning pruning;
    private volatile @Nullable Boolean readCommitted;
    private final Set<String> knownZones = ConcurrentHashMap.newKeySet();

    public PostgresLimitStore(DataSource dataSource, String schema) {
        this(dataSource, schema, null, null, true);
    }

    /**
     * @param clock what the time is, for tests; {@code null} for the clock of the database
     */
    public PostgresLimitStore(DataSource dataSource, String schema, @Nullable InstantSource clock) {
        this(dataSource, schema, clock, null, true);
    }

    private PostgresLimitStore(
            DataSource dataSource,
            String schema,
            @Nullable InstantSource clock,
            @Nullable Duration timeout,
            boolean durable) {
        this.dataSource = dataSource;
        this.schema = schema;
        this.clock = clock;
        this.timeout = timeout;
        this.durable = durable;
        this.decide = "SELECT * FROM \"" + requireSchema(schema) + "\".rate_limit_decide_v2(" + ARGUMENTS + ")";
        this.decideLinked = "SELECT * FROM \"" + schema + "\".rate_limit_decide_linked_v2(" + ARGUMENTS + ")";
        this.upsert = new PostgresUpsert(schema, durable, clock != null);
        this.pruning = new PostgresPruning(dataSource, schema);
    }

    /** This store, which gives up on a connection that has not answered for so long. */
    public PostgresLimitStore withTimeout(Duration time) {
        return new PostgresLimitStore(dataSource, schema, clock, time, durable);
    }

    /**
     * This store, whose commits do not wait for the disk. A crash of the database may then lose the decisions of its last
     * moments (three times {@code wal_writer_delay}, 0.6 seconds unless told otherwise): what was admitted in them can be
     * admitted again. Nothing else is lost, and nothing is damaged. Said to the database for each group alone.
     */
    public PostgresLimitStore withoutWaitingForTheDisk() {
        return new PostgresLimitStore(dataSource, schema, clock, timeout, false);
    }

    /** The schema name, if it can be one. */
    public static String requireSchema(String schema) {
        if (!SCHEMA.matcher(schema).matches()) {
            throw new IllegalArgumentException(
                    "schema is '" + schema + "'; write 1 to 63 letters, digits or '_', no digit first");
        }
        return schema;
    }

    /** Refuses other encodings: a subject that they cannot hold would fail all that is decided with it. */
    public static void requireUnicode(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet encoding = statement.executeQuery("SHOW server_encoding")) {
            if (encoding.next() && !"UTF8".equals(encoding.getString(1))) {
                throw new UnsupportedDatabaseException("rate limits cannot be kept in a database with the encoding "
                        + encoding.getString(1) + "; use one with the encoding UTF8");
            }
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL cannot be asked for its encoding: " + e.getMessage(), e);
        }
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        try {
            PostgresCall call = new PostgresCall(group);
            return upsert.covers(call) ? admittedOrDecided(call, group) : decided(call, group);
        } catch (SQLException e) {
            String hint = MISSING_SCHEMA.contains(String.valueOf(e.getSQLState()))
                    ? "; Schema.migrate has not been run on schema " + schema
                    : "";
            throw new LimitStoreException("PostgreSQL failed: " + e.getMessage() + hint, e);
        }
    }

    /** Work in a transaction of its own. */
    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** One statement, which is a transaction by itself. */
    private <T> T inStatement(Work<T> work) throws SQLException {
        return tried(connection -> isReadCommitted(connection) ? work.on(connection) : inTransaction(connection, work));
    }

    /** Does it again where the database could not do it for reasons of its own; nothing of it was done then. */
    private <T> T tried(Work<T> work) throws SQLException {
        for (int tries = 1; ; tries++) {
            try (Connection connection = connect()) {
                return work.on(connection);
            } catch (SQLException e) {
                if (tries == MOST_TRIES || !isToBeTriedAgain(e)) {
                    throw e;
                }
            }
        }
    }

    /** Whether statements of their own are read committed here; asked once. */
    private boolean isReadCommitted(Connection connection) throws SQLException {
        Boolean known = readCommitted;
        if (known == null) {
            known = connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED;
            readCommitted = known;
        }
        return known;
    }

    /**
     * Two round trips more, and one for connections with a stricter level of isolation, which would fail a group for every
     * row that another group has just written.
     */
    private <T> T inTransaction(Connection connection, Work<T> work) throws SQLException {
        boolean readCommitted = isReadCommitted(connection);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            if (!readCommitted) {
                statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
            }
            T done = work.on(connection);
            connection.commit();
            return done;
        } catch (SQLException e) {
            connection.rollback();
            throw e;
        } finally {
            connection.setAutoCommit(true);
        }
    }

    /**
     * What can be admitted outright is, by a plain statement; the rest is decided by the function, in a transaction of its
     * own: an operation with one key does not care what became of the others.
     */
    private List<Answer> admittedOrDecided(PostgresCall call, List<Operation> group) throws SQLException {
        if (call.linked()) {
            List<Answer> admitted =
                    tried(connection -> inTransaction(connection, begun -> admittedTogether(begun, call, group)));
            return admitted.isEmpty() ? decided(call, group) : admitted;
        }
        @Nullable Admission[] admitted = inStatement(connection -> upsert.admit(connection, call, now()));
        List<Operation> rest = new ArrayList<>();
        for (int i = 0; i < group.size(); i++) {
            if (admitted[call.keyOf(i)] == null) {
                rest.add(group.get(i));
            }
        }
        Iterator<Answer> decided = rest.isEmpty()
                ? Collections.emptyIterator()
                : decided(PostgresCall.oneByOne(rest), rest).iterator();
        List<Answer> answers = new ArrayList<>(group.size());
        for (int i = 0; i < group.size(); i++) {
            answers.add(admitted[call.keyOf(i)] == null ? decided.next() : admitted(call, admitted, i, group.get(i)));
        }
        return answers;
    }

    /** Admits operations over several keys, all of them or, with no answers, none. */
    private List<Answer> admittedTogether(Connection connection, PostgresCall call, List<Operation> group)
            throws SQLException {
        @Nullable Admission[] admitted = upsert.admit(connection, call, now());
        if (Arrays.asList(admitted).contains(null)) {
            connection.rollback();
            return List.of();
        }
        List<Answer> answers = new ArrayList<>(group.size());
        int demand = 0;
        for (Operation operation : group) {
            answers.add(admitted(call, admitted, demand, operation));
            demand += operation.demands().size();
        }
        return answers;
    }

    /**
     * @param first the number of the operation's first demand
     */
    private static Answer admitted(PostgresCall call, @Nullable Admission[] admitted, int first, Operation operation) {
        long at = 0;
        List<Verdict> verdicts = new ArrayList<>(operation.demands().size());
        for (int i = 0; i < operation.demands().size(); i++) {
            Admission admission = Objects.requireNonNull(admitted[call.keyOf(first + i)]);
            at = Math.max(at, admission.now());
            verdicts.add(admission.next(operation.demands().get(i).cost()));
        }
        return new Answer(at, verdicts);
    }

    private List<Answer> decided(PostgresCall call, List<Operation> group) throws SQLException {
        return inStatement(connection -> decided(connection, call, group));
    }

    private List<Answer> decided(Connection connection, PostgresCall call, List<Operation> group) throws SQLException {
        call.requireKnownZones(connection, knownZones);
        try (PreparedStatement statement = connection.prepareStatement(call.linked() ? decideLinked : decide)) {
            call.bind(statement, durable, now());
            try (ResultSet rows = statement.executeQuery()) {
                return answers(rows, call, group);
            }
        }
    }

    /** First come the states that were charged, each with all that the group takes of it; then the verdicts of the rest. */
    private List<Answer> answers(ResultSet rows, PostgresCall call, List<Operation> group) throws SQLException {
        Map<StateKey, Admission> admitted = new HashMap<>();
        boolean more = rows.next();
        for (; more && rows.getString(1) != null; more = rows.next()) {
            admit(rows, call, admitted);
        }
        List<Answer> answers = new ArrayList<>(group.size());
        for (Operation operation : group) {
            long at = 0;
            List<Verdict> verdicts = new ArrayList<>(operation.demands().size());
            for (Operation.Demand demand : operation.demands()) {
                Admission admission = admitted.get(demand.key());
                if (admission != null) {
                    at = Math.max(at, admission.now());
                    verdicts.add(admission.next(demand.cost()));
                } else if (more) {
                    at = rows.getLong(3);
                    verdicts.add(verdict(rows, demand));
                    more = rows.next();
                } else {
                    throw new SQLException("the function answered fewer demands than it was given");
                }
                upsert.learn(demand.key(), verdicts.get(verdicts.size() - 1).allowed());
            }
            answers.add(new Answer(at, verdicts));
        }
        return answers;
    }

    private static void admit(ResultSet row, PostgresCall call, Map<StateKey, Admission> admitted) throws SQLException {
        StateKey key = new StateKey(row.getString(1), row.getString(2));
        int number = call.number(key);
        Limit limit = call.limit(number);
        admitted.put(key, new Admission(limit, state(row, limit), call.total(number)));
    }

    private static State state(ResultSet row, Limit limit) throws SQLException {
        long at = row.getLong(3);
        boolean log = limit.algorithm() instanceof Algorithm.SlidingLog;
        return new State(
                limit.algorithm().written(),
                row.getLong(4),
                row.getLong(5),
                log ? 0 : row.getLong(6),
                row.getLong(7),
                row.getLong(8),
                log ? Log.of(at, row.getInt(6)) : Log.EMPTY,
                0,
                at,
                at,
                0);
    }

    private static Verdict verdict(ResultSet row, Operation.Demand demand) throws SQLException {
        return new Verdict(
                OUTCOMES[row.getInt(9)],
                row.getLong(10),
                row.getLong(11),
                row.getLong(12),
                row.getLong(13),
                row.getLong(14),
                new Charge(row.getLong(15), demand.cost(), row.getLong(16)));
    }

    private @Nullable Long now() {
        return clock == null ? null : (Long) Micros.of(clock.instant());
    }

    /** A statement is a transaction, whatever the pool prefers for the application. */
    Connection connect() throws SQLException {
        Connection connection = dataSource.getConnection();
        if (!connection.getAutoCommit()) {
            connection.setAutoCommit(true);
        }
        if (timeout != null) {
            connection.setNetworkTimeout(
                    Runnable::run, (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeout.toMillis())));
        }
        return connection;
    }

    private static boolean isToBeTriedAgain(SQLException e) {
        return SERIALIZATION_FAILURE.equals(e.getSQLState()) || DEADLOCK_DETECTED.equals(e.getSQLState());
    }

    /** With a timeout, a connection that does not answer is given up. */
    @Override
    public boolean answersInTime() {
        return timeout != null;
    }

    /** One is worked on while the log of the other is flushed. */
    @Override
    public int groupsAtOnce() {
        return 2;
    }

    @Override
    public boolean isOnRealTime() {
        return clock == null;
    }

    @Override
    public Pruned prune(long keepMicros) {
        return pruning.step(now(), keepMicros);
    }

    /** The data source belongs to whoever made it. */
    @Override
    public void close() {}
}
