package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import dev.ratelimit.store.swap.SwapLoop;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps state in PostgreSQL, or in a database that speaks as PostgreSQL does, and decides by swaps. It needs no row locks, no
 * clock in a write, no stored functions and no session state. The schema must be there: see {@code dev.ratelimit.schema}.
 *
 * <p>Other instances may use {@link PostgresLimitStore} on the same tables at the same time. On PostgreSQL itself that one
 * is faster.
 */
public final class PostgresSwapStore implements LimitStore {

    /** Without a deadline. */
    private static final Duration LONGEST_TRY = Duration.ofSeconds(2);

    private final DataSource dataSource;
    private final String schema;
    private final @Nullable InstantSource clock;
    private final @Nullable Duration deadline;
    private final boolean durable;
    private final SwapLoop loop;
    private final KeyOrderPruning pruning;

    public PostgresSwapStore(DataSource dataSource, String schema) {
        this(dataSource, schema, null, null, true);
    }

    /**
     * @param clock the time, for tests; {@code null} for the clock of the database
     */
    public PostgresSwapStore(DataSource dataSource, String schema, @Nullable InstantSource clock) {
        this(dataSource, schema, clock, null, true);
    }

    private PostgresSwapStore(
            DataSource dataSource,
            String schema,
            @Nullable InstantSource clock,
            @Nullable Duration deadline,
            boolean durable) {
        this.dataSource = dataSource;
        this.schema = PostgresLimitStore.requireSchema(schema);
        this.clock = clock;
        this.deadline = deadline;
        this.durable = durable;
        Duration bound = deadline == null ? LONGEST_TRY : deadline;
        SwapStatements statements = new SwapStatements(schema, bound, durable);
        this.loop = new SwapLoop(
                new PostgresSwapTable(new PostgresConnections(dataSource, deadline), statements, clock), bound);
        this.pruning = new KeyOrderPruning(new PostgresConnections(dataSource, null), schema, clock);
    }

    /**
     * This store, for callers with that deadline. Swaps that are lost are tried again within it. A connection is aborted if
     * it is silent for much longer.
     */
    public PostgresSwapStore withDeadline(Duration time) {
        return new PostgresSwapStore(dataSource, schema, clock, time, durable);
    }

    /** This store, whose commits do not wait for the disk: see {@link PostgresLimitStore#withoutWaitingForTheDisk}. */
    public PostgresSwapStore withoutWaitingForTheDisk() {
        return new PostgresSwapStore(dataSource, schema, clock, deadline, false);
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        return group.isEmpty() ? List.of() : loop.decide(group);
    }

    /** With a deadline, a connection that does not answer is given up. */
    @Override
    public boolean answersInTime() {
        return deadline != null;
    }

    /** One is worked on while the other is on its way. */
    @Override
    public int groupsAtOnce() {
        return 2;
    }

    @Override
    public boolean isContended(StateKey key) {
        return loop.isContended(key);
    }

    @Override
    public @Nullable InstantSource clock() {
        return clock;
    }

    @Override
    public Pruned prune(long keepMicros) {
        return pruning.step(keepMicros);
    }

    /** The data source belongs to its creator. */
    @Override
    public void close() {}
}
