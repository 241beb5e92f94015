package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.StateColumns;
import dev.ratelimit.store.postgresql.swap.SwapRows.Changed;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import dev.ratelimit.store.postgresql.transaction.PostgresFailures;
import dev.ratelimit.store.swap.SwapChange;
import dev.ratelimit.store.swap.SwapChange.Counted;
import dev.ratelimit.store.swap.SwapRow;
import dev.ratelimit.store.swap.SwapSnapshot;
import dev.ratelimit.store.swap.SwapTable;
import dev.ratelimit.support.Micros;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Reads and swaps rows of PostgreSQL.
 *
 * <ol>
 *   <li>Changes of single states are one statement and one round trip.
 *   <li>Otherwise, the swap is followed by a look at who has won. If a change has won some of its rows only, everything is
 *       rolled back, and the changes that have won all their rows are tried once more.
 *   <li>Penalties are written after the swap, which holds the row of the state: every writer of penalties needs that row.
 *       They are read again then, because {@code PostgresLimitStore} changes them without the version of the state.
 * </ol>
 *
 * All rows are written in the order of their keys.
 */
final class PostgresSwapTable implements SwapTable {

    /** The database has undone the transaction, or it has waited too long for another one. */
    private static final Set<String> LOST =
            Set.of(PostgresConnections.SERIALIZATION_FAILURE, PostgresConnections.DEADLOCK_DETECTED, "55P03", "25P03");

    private final PostgresConnections connections;
    private final SwapStatements statements;
    private final @Nullable InstantSource clock;

    /**
     * @param clock the time, if it is given
     */
    PostgresSwapTable(PostgresConnections connections, SwapStatements statements, @Nullable InstantSource clock) {
        this.connections = connections;
        this.statements = statements;
        this.clock = clock;
    }

    @Override
    public SwapSnapshot read(Set<StateKey> keys, boolean withViolations) {
        AtomicReference<SwapSnapshot> snapshot = new AtomicReference<>();
        try {
            connections.run(connection -> snapshot.set(read(connection, keys, withViolations)));
        } catch (SQLException e) {
            throw failed(e);
        }
        return Objects.requireNonNull(snapshot.get());
    }

    private SwapSnapshot read(Connection connection, Set<StateKey> keys, boolean withViolations) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(withViolations ? statements.readWithPenalties : statements.read)) {
            int next = SwapRows.bindKeys(statement, 1, keys);
            if (withViolations) {
                SwapRows.bindKeys(statement, next, keys);
            }
            statement.execute();
            long now;
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                now = clock == null ? row.getLong(1) : Micros.of(clock.instant());
            }
            statement.getMoreResults();
            Map<StateKey, SwapRow> rows;
            try (ResultSet row = statement.getResultSet()) {
                rows = SwapRows.states(row);
            }
            refuseMoved(keys, rows);
            if (withViolations) {
                statement.getMoreResults();
                try (ResultSet row = statement.getResultSet()) {
                    SwapRows.violations(row)
                            .forEach((key, counted) -> rows.merge(
                                    key,
                                    new SwapRow(SwapRow.NONE.state(), counted, SwapRow.NONE.version()),
                                    (state, penalty) -> new SwapRow(state.state(), counted, state.version())));
                }
            }
            return new SwapSnapshot(now, rows);
        }
    }

    private static void refuseMoved(Set<StateKey> keys, Map<StateKey, SwapRow> rows) {
        Set<StateKey> moved = new HashSet<>();
        rows.forEach((key, row) -> {
            if (keys.contains(key) && StateColumns.isMoved(row.state().algorithm())) {
                moved.add(key);
            }
        });
        if (!moved.isEmpty()) {
            throw new MovedKeysException(moved, List.of());
        }
    }

    @Override
    public Set<SwapChange> swap(List<SwapChange> changes) {
        Attempt attempt = new Attempt(changes);
        if (!run(attempt)) {
            attempt = new Attempt(attempt.won());
            if (attempt.isEmpty() || !run(attempt)) {
                return Set.of();
            }
        }
        return new HashSet<>(attempt.won());
    }

    /** Whether the changes that have won are committed. If not, none is. */
    private boolean run(Attempt attempt) {
        try {
            connections.runOnce(attempt::run);
            return attempt.isCommitted();
        } catch (SQLException e) {
            if (LOST.contains(String.valueOf(e.getSQLState()))) {
                attempt.undone();
                return false;
            }
            throw failed(e);
        }
    }

    private LimitStoreException failed(SQLException e) {
        return PostgresFailures.ofAll(e, statements.schema);
    }

    /** One transaction. */
    private final class Attempt {

        private final List<SwapChange> changes;
        private final List<Changed> rows = new ArrayList<>();
        private final Set<StateKey> wonRows = new HashSet<>();
        private final Set<SwapChange> lost = new LinkedHashSet<>();
        private boolean committed;

        private Attempt(List<SwapChange> changes) {
            this.changes = changes;
            for (SwapChange change : changes) {
                change.rows().forEach(row -> rows.add(new Changed(change, row)));
            }
            rows.sort((one, other) ->
                    KeyOrder.BY_CODE_POINTS.compare(one.row().key(), other.row().key()));
        }

        private boolean isEmpty() {
            return changes.isEmpty();
        }

        private boolean isCommitted() {
            return committed;
        }

        private List<SwapChange> won() {
            return changes.stream().filter(change -> !lost.contains(change)).toList();
        }

        private void undone() {
            lost.addAll(changes);
        }

        private void run(Connection connection) throws SQLException {
            boolean plain = changes.stream().allMatch(SwapChange::isPlain);
            try (PreparedStatement statement =
                    connection.prepareStatement(plain ? statements.swapAndCommit : statements.beginAndSwap)) {
                int next = SwapRows.bindStates(statement, rows);
                if (!plain) {
                    SwapRows.bindKeys(
                            statement,
                            next,
                            rows.stream().map(row -> row.row().key()).toList());
                }
                statement.execute();
                for (int i = 0; i < statements.settings; i++) {
                    statement.getMoreResults();
                }
                try (ResultSet row = statement.getResultSet()) {
                    while (row.next()) {
                        wonRows.add(SwapRows.key(row));
                    }
                }
                if (!plain) {
                    statement.getMoreResults();
                    try (ResultSet row = statement.getResultSet()) {
                        findLosers(SwapRows.violations(row));
                    }
                }
            }
            if (plain) {
                findLosers(Map.of());
                committed = true;
            } else {
                end(connection);
            }
        }

        private void findLosers(Map<StateKey, Violations> counted) {
            for (Changed one : rows) {
                StateKey key = one.row().key();
                boolean sameViolations = one.row().counted() != Counted.MORE
                        || counted.getOrDefault(key, Violations.NONE)
                                .equals(one.row().before().violations());
                if (!wonRows.contains(key) || !sameViolations) {
                    lost.add(one.change());
                }
            }
        }

        /** Whether a change that has lost wrote a row nonetheless. */
        private boolean isTorn() {
            return rows.stream()
                    .anyMatch(one -> lost.contains(one.change())
                            && wonRows.contains(one.row().key()));
        }

        private void end(Connection connection) throws SQLException {
            if (isTorn() || lost.size() == changes.size()) {
                PostgresConnections.rollBack(connection);
                return;
            }
            List<Changed> more = of(Counted.MORE);
            List<Changed> none = of(Counted.NONE);
            String text = (more.isEmpty() ? "" : statements.writePenalties)
                    + statements.deletePenalty.repeat(none.size())
                    + "COMMIT";
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                int next = more.isEmpty() ? 1 : SwapRows.bindViolations(statement, 1, more);
                for (Changed one : none) {
                    statement.setString(next++, one.row().key().subject());
                    statement.setString(next++, one.row().key().limit());
                }
                statement.execute();
            }
            committed = true;
        }

        private List<Changed> of(Counted counted) {
            return rows.stream()
                    .filter(one -> one.row().counted() == counted && !lost.contains(one.change()))
                    .toList();
        }
    }
}
