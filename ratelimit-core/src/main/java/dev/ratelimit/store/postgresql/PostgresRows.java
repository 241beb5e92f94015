package dev.ratelimit.store.postgresql;

import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.KeyArrays;
import dev.ratelimit.store.jdbc.PenaltyUpsert;
import dev.ratelimit.store.jdbc.StateColumns;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The rows of a group, as they were read, and their changes by the group. Not thread-safe. */
final class PostgresRows implements GroupArithmetic.Rows {

    private static final int NUMBERS = 10;

    private final Map<StateKey, String> places = new HashMap<>();
    private final Map<StateKey, State> states = new HashMap<>();
    private final Map<StateKey, Violations> violations = new HashMap<>();
    private final Map<StateKey, State> changedStates = new LinkedHashMap<>();
    private final Map<StateKey, Violations> changedViolations = new LinkedHashMap<>();
    private final Set<StateKey> removed = new LinkedHashSet<>();
    private final Set<StateKey> moved = new LinkedHashSet<>();

    /** The keys whose state is on another shard now. */
    Set<StateKey> moved() {
        return moved;
    }

    /** How many rows were locked. */
    int size() {
        return places.size();
    }

    /**
     * Reads locked rows: the clock, the number of the key, the state, the place.
     *
     * @return the clock after the last lock
     */
    long readLocked(ResultSet row, List<StateKey> keys) throws SQLException {
        long now = 0;
        while (row.next()) {
            now = row.getLong(1);
            StateKey key = keys.get(row.getInt(2) - 1);
            read(row, key);
            places.put(key, row.getString(3 + StateColumns.COUNT));
        }
        return now;
    }

    /** Reads penalties: the number of the key, the violations. */
    void readPenalties(ResultSet row, List<StateKey> keys) throws SQLException {
        while (row.next()) {
            violations.put(keys.get(row.getInt(1) - 1), StateColumns.readViolations(row, 2));
        }
    }

    /**
     * Reads rows that may exist or not: the clock, the number of the key, the state, the violations. Rows that were locked
     * before count as not locked.
     *
     * @return the clock
     */
    long readAll(ResultSet row, List<StateKey> keys) throws SQLException {
        places.clear();
        long now = 0;
        while (row.next()) {
            now = row.getLong(1);
            StateKey key = keys.get(row.getInt(2) - 1);
            read(row, key);
            Violations counted = StateColumns.readViolations(row, 3 + StateColumns.COUNT);
            if (!counted.isNone()) {
                violations.put(key, counted);
            }
        }
        return now;
    }

    private void read(ResultSet row, StateKey key) throws SQLException {
        String algorithm = row.getString(3);
        if (algorithm != null && StateColumns.isMoved(algorithm)) {
            moved.add(key);
        } else if (algorithm != null && !algorithm.isEmpty()) {
            states.put(key, StateColumns.read(row, 3));
        }
    }

    @Override
    public State state(StateKey key) {
        return states.getOrDefault(key, State.FRESH);
    }

    @Override
    public void write(StateKey key, State state) {
        states.put(key, state);
        changedStates.put(key, state);
    }

    @Override
    public Violations violations(StateKey key) {
        return violations.getOrDefault(key, Violations.NONE);
    }

    @Override
    public void write(StateKey key, Violations counted) {
        violations.put(key, counted);
        changedViolations.put(key, counted);
    }

    /** The row stays, without a state: an instance that decides by swaps, and has read it before, must not win. */
    @Override
    public void remove(StateKey key) {
        states.remove(key);
        violations.remove(key);
        changedStates.put(key, State.FRESH);
        changedViolations.remove(key);
        removed.add(key);
    }

    boolean areChanged() {
        return !changedStates.isEmpty() || !changedViolations.isEmpty();
    }

    boolean isChanged(StateKey key) {
        return changedStates.containsKey(key) || changedViolations.containsKey(key);
    }

    /** The statements that write the changed rows. */
    String statements(PostgresStatements sql) {
        StringBuilder all = new StringBuilder();
        if (!removed.isEmpty()) {
            all.append(sql.deletePenalties).append(';');
        }
        if (!changedStates.isEmpty()) {
            all.append(areInPlace() ? sql.updateStates : sql.writeStates).append(';');
        }
        if (!changedViolations.isEmpty()) {
            all.append(sql.writePenalties);
        }
        return all.toString();
    }

    /** Binds the parameters of {@link #statements}. */
    void bind(PreparedStatement statement) throws SQLException {
        int next = 1;
        if (!removed.isEmpty()) {
            next = KeyArrays.bind(statement, next, removed);
        }
        if (!changedStates.isEmpty()) {
            next = areInPlace() ? bindPlaces(statement, next) : bindStates(statement, next);
        }
        if (!changedViolations.isEmpty()) {
            int unused = PenaltyUpsert.bind(statement, next, changedViolations);
        }
    }

    /** Whether all rows that have changed are still where they were locked. */
    private boolean areInPlace() {
        return places.keySet().containsAll(changedStates.keySet());
    }

    private int bindPlaces(PreparedStatement statement, int first) throws SQLException {
        int rows = changedStates.size();
        long[] numbers = new long[NUMBERS * rows];
        @Nullable String[] place = new @Nullable String[rows];
        String[] algorithm = new String[rows];
        int row = 0;
        for (Map.Entry<StateKey, State> changed : changedStates.entrySet()) {
            State state = changed.getValue();
            place[row] = places.get(changed.getKey());
            algorithm[row] = state.algorithm();
            int at = NUMBERS * row++;
            numbers[at] = state.count().start();
            numbers[at + 1] = state.count().size();
            numbers[at + 2] = state.capacity();
            numbers[at + 3] = state.count().used();
            numbers[at + 4] = state.count().previous();
            numbers[at + 5] = state.count().tokens();
            numbers[at + 6] = state.blockedUntil();
            numbers[at + 7] = state.last();
            numbers[at + 8] = state.lastAllowed();
            numbers[at + 9] = state.expiresAt();
        }
        statement.setObject(first, numbers);
        statement.setObject(first + 1, place);
        statement.setObject(first + 2, algorithm);
        statement.setObject(first + 3, logs());
        return first + 4;
    }

    private int bindStates(PreparedStatement statement, int first) throws SQLException {
        int next = KeyArrays.bind(statement, first, changedStates.keySet());
        statement.setObject(
                next++, changedStates.values().stream().map(State::algorithm).toArray(String[]::new));
        next = bind(statement, next, changedStates, state -> state.count().start());
        next = bind(statement, next, changedStates, state -> state.count().size());
        next = bind(statement, next, changedStates, State::capacity);
        next = bind(statement, next, changedStates, state -> state.count().used());
        next = bind(statement, next, changedStates, state -> state.count().previous());
        next = bind(statement, next, changedStates, state -> state.count().tokens());
        statement.setObject(next++, logs());
        next = bind(statement, next, changedStates, State::blockedUntil);
        next = bind(statement, next, changedStates, State::last);
        next = bind(statement, next, changedStates, State::lastAllowed);
        return bind(statement, next, changedStates, State::expiresAt);
    }

    /** Empty if there is none. */
    private byte[][] logs() {
        boolean any = false;
        for (State state : changedStates.values()) {
            any |= hasLog(state.count());
        }
        return any
                ? changedStates.values().stream()
                        .map(state ->
                                hasLog(state.count()) ? state.count().log().toBytes() : null)
                        .toArray(byte[][]::new)
                : new byte[0][];
    }

    private static boolean hasLog(Count count) {
        return !count.log().equals(Log.EMPTY);
    }

    private static int bind(
            PreparedStatement statement, int at, Map<StateKey, State> rows, ToLongFunction<State> column)
            throws SQLException {
        long[] values = new long[rows.size()];
        int i = 0;
        for (State row : rows.values()) {
            values[i++] = column.applyAsLong(row);
        }
        statement.setObject(at, values);
        return at + 1;
    }
}
