package dev.ratelimit.store.postgresql;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import dev.ratelimit.store.postgresql.admission.AdmissionFragments;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import dev.ratelimit.store.postgresql.transaction.PostgresFailures;
import dev.ratelimit.support.Micros;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps state in PostgreSQL. The schema must be there: see {@code dev.ratelimit.schema}.
 *
 * <ol>
 *   <li>One statement charges the keys of the group that have room: one round trip, one transaction. It also reads the keys
 *       that are expected to have none.
 *   <li>The other rows are locked and read together with the clock, decided in Java, written and committed: two round
 *       trips, another transaction.
 * </ol>
 *
 * Both lock rows in the order of their keys. No session state is used, so connections may come through a proxy that pools by
 * transaction.
 */
public final class PostgresLimitStore implements LimitStore {

    public static final String DEFAULT_SCHEMA = "ratelimit";

    /** The remedy for an invalid schema name. */
    public static final String SCHEMA_ADVICE = "write 1 to 63 letters, digits or '_', no digit first";

    private static final Pattern SCHEMA = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    /** Without a deadline. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

    private final DataSource dataSource;
    private final String schema;
    private final @Nullable InstantSource clock;
    private final @Nullable Duration deadline;
    private final boolean durable;
    private final AdmissionFragments fragments;
    private final PostgresConnections connections;
    private final PostgresStatements statements;
    private final PostgresAdmission admission;
    private final PostgresLocking locking;
    private final PostgresPruning pruning;
    private final PostgresDenials denials = new PostgresDenials();
    private final PostgresTime time;

    public PostgresLimitStore(DataSource dataSource, String schema) {
        this(dataSource, schema, null, null, true, AdmissionFragments.ALL);
    }

    /**
     * @param clock the time, for tests; {@code null} for the clock of the database
     */
    public PostgresLimitStore(DataSource dataSource, String schema, @Nullable InstantSource clock) {
        this(dataSource, schema, clock, null, true, AdmissionFragments.ALL);
    }

    private PostgresLimitStore(
            DataSource dataSource,
            String schema,
            @Nullable InstantSource clock,
            @Nullable Duration deadline,
            boolean durable,
            AdmissionFragments fragments) {
        this.dataSource = dataSource;
        this.schema = requireSchema(schema);
        this.clock = clock;
        this.deadline = deadline;
        this.durable = durable;
        this.fragments = fragments;
        this.connections = new PostgresConnections(dataSource, deadline);
        Duration longest = deadline == null ? LONGEST_WAIT : deadline;
        this.statements =
                new PostgresStatements(schema, durable, atLeastAMilli(longest.dividedBy(2)), longest, clock != null);
        this.admission = new PostgresAdmission(statements);
        this.locking = new PostgresLocking(statements, clock);
        this.pruning = new PostgresPruning(new PostgresConnections(dataSource, null), schema);
        this.time = new PostgresTime(clock);
    }

    private static Duration atLeastAMilli(Duration time) {
        return time.toMillis() > 0 ? time : Duration.ofMillis(1);
    }

    /**
     * This store, for callers with that deadline. A decision waits at most half of it for a row that another
     * transaction holds. A connection is aborted if it is silent for much longer than the deadline. It is not aborted
     * sooner: the database may have decided, and a busy machine may be slow to reply.
     */
    public PostgresLimitStore withDeadline(Duration time) {
        return new PostgresLimitStore(dataSource, schema, clock, time, durable, fragments);
    }

    /**
     * This store, whose commits do not wait for the disk. A crash of the database may then lose its last decisions, so
     * that the same permits are granted again. The loss spans at most three times {@code wal_writer_delay}, 0.6 seconds
     * by default. Nothing else is lost, and nothing is damaged. It is set per transaction.
     */
    public PostgresLimitStore withoutWaitingForTheDisk() {
        return new PostgresLimitStore(dataSource, schema, clock, deadline, false, fragments);
    }

    /** This store, which decides the algorithm of that name in Java. */
    PostgresLimitStore withoutFragment(String algorithm) {
        return new PostgresLimitStore(dataSource, schema, clock, deadline, durable, fragments.without(algorithm));
    }

    /** The schema name, if it can be one. */
    public static String requireSchema(String schema) {
        if (!SCHEMA.matcher(schema).matches()) {
            throw new IllegalArgumentException("schema is '" + schema + "'; " + SCHEMA_ADVICE);
        }
        return schema;
    }

    /** Refuses other encodings: a subject that they cannot hold would fail all that is decided with it. */
    public static void requireUnicode(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet encoding = statement.executeQuery("SHOW server_encoding")) {
            if (encoding.next() && !"UTF8".equals(encoding.getString(1))) {
                throw new UnsupportedDatabaseException("unsupported database encoding " + encoding.getString(1)
                        + "; use a database with encoding UTF8");
            }
        } catch (SQLException e) {
            throw new LimitStoreException("cannot read the encoding of the database: " + e.getMessage(), e);
        }
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        PostgresGroup asked = new PostgresGroup(group, fragments, denials, time.expected());
        @Nullable Answer[] answers = new @Nullable Answer[group.size()];
        boolean followed = admit(asked, answers);
        lock(group, answers, followed);
        List<Answer> all = List.of(requireAll(answers));
        denials.observe(group, all);
        if (!all.isEmpty()) {
            time.observe(all.get(all.size() - 1).now());
        }
        return all;
    }

    /**
     * Decides as many operations as possible by the statement, or by reading.
     *
     * @return whether that has not waited for the disk, since more is to follow
     */
    private boolean admit(PostgresGroup asked, @Nullable Answer[] answers) {
        AdmissionLimits limits = AdmissionLimits.of(asked, time.expected());
        PostgresReading reading = new PostgresReading(statements, asked, clock);
        boolean followed = asked.needsLocks();
        try {
            if (!limits.keys().isEmpty()) {
                connections.run(connection -> admission.run(connection, asked, limits, reading, now()));
            } else if (!reading.isEmpty()) {
                connections.run(reading::run);
            }
        } catch (SQLException e) {
            throw failed(e, asked.operations(), answers);
        }
        for (int i = 0; i < answers.length; i++) {
            answers[i] = asked.answer(asked.operations().get(i), reading);
        }
        return followed;
    }

    /** Decides the rest in Java, on locked rows, in a transaction of its own. */
    private void lock(List<Operation> group, @Nullable Answer[] answers, boolean followed) {
        List<Operation> rest = new ArrayList<>();
        for (int i = 0; i < answers.length; i++) {
            if (answers[i] == null) {
                rest.add(group.get(i));
            }
        }
        if (rest.isEmpty()) {
            return;
        }
        List<Answer> decided = new ArrayList<>();
        try {
            connections.run(connection -> decided.addAll(locking.decide(connection, rest, followed)));
        } catch (MovedKeysException e) {
            throw new MovedKeysException(e.keys(), Arrays.asList(answers));
        } catch (SQLException e) {
            throw failed(e, group, answers);
        }
        Iterator<Answer> next = decided.iterator();
        for (int i = 0; i < answers.length; i++) {
            if (answers[i] == null) {
                answers[i] = next.next();
            }
        }
    }

    @SuppressWarnings("NullAway") // all operations are answered by now
    private static Answer[] requireAll(@Nullable Answer[] answers) {
        return answers;
    }

    /** Looking for locked keys locks the others for a moment: then the disk has all that was decided before. */
    private LimitStoreException failed(SQLException e, List<Operation> group, @Nullable Answer[] decided) {
        boolean isLocked = LOCK_NOT_AVAILABLE.equals(e.getSQLState());
        List<@Nullable Answer> answers = Arrays.asList(decided);
        if (!isLocked && answers.stream().allMatch(Objects::isNull)) {
            return PostgresFailures.ofAll(e, schema);
        }
        try (Connection connection = connections.connect()) {
            Set<StateKey> locked = locking.lockedKeys(connection, group);
            return isLocked ? new LockedKeysException(locked, answers, e) : PostgresFailures.of(e, schema, answers);
        } catch (SQLException also) {
            return PostgresFailures.of(also, schema, List.of());
        }
    }

    private @Nullable Long now() {
        return clock == null ? null : (Long) Micros.of(clock.instant());
    }

    Connection connect() throws SQLException {
        return connections.connect();
    }

    /** With a deadline, a connection that does not answer is given up. */
    @Override
    public boolean answersInTime() {
        return deadline != null;
    }

    /** One is worked on while the log of the other is flushed. */
    @Override
    public int groupsAtOnce() {
        return 2;
    }

    @Override
    public @Nullable InstantSource clock() {
        return clock;
    }

    @Override
    public Pruned prune(long keepMicros) {
        return pruning.step(now(), keepMicros);
    }

    /** The data source belongs to its creator. */
    @Override
    public void close() {}
}
