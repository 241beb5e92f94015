package dev.ratelimit.store.postgresql;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.Admission;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.postgresql.AdmissionLimits.Numbered;
import dev.ratelimit.store.postgresql.admission.AdmissionShape;
import dev.ratelimit.store.postgresql.admission.AdmissionStatement;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Charges the keys of a group that have room with one statement, each with all that the group takes of it. A key without room
 * for all of it is left as it is. Keys that are only read are read in the same round trip.
 *
 * <p>Operations over several keys need a second round trip: the transaction is rolled back unless each of them was admitted
 * as a whole.
 */
final class PostgresAdmission {

    private static final String BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED;";

    private enum Transaction {
        /** The statement is a transaction by itself. */
        NONE,
        /** The connection prefers another isolation, which would fail the statement for rows that were just written. */
        WHOLE,
        /** It is left open, to be committed or rolled back. */
        BEGUN
    }

    private record Variant(AdmissionShape shape, Transaction transaction, boolean reads, boolean followed) {}

    private final PostgresStatements statements;
    private final Map<Variant, AdmissionStatement> texts = new ConcurrentHashMap<>();
    private volatile @Nullable Boolean readCommitted;

    PostgresAdmission(PostgresStatements statements) {
        this.statements = statements;
    }

    /**
     * Admits the keys of these limits, and reads the keys that are to be read.
     *
     * @param now the time, if it is given
     */
    void run(
            Connection connection,
            PostgresGroup group,
            AdmissionLimits limits,
            PostgresReading reading,
            @Nullable Long now)
            throws SQLException {
        if (!group.isLinked()) {
            Transaction transaction = isReadCommitted(connection) ? Transaction.NONE : Transaction.WHOLE;
            execute(connection, group, limits, transaction, reading, now);
            return;
        }
        boolean committed = false;
        try {
            execute(connection, group, limits, Transaction.BEGUN, reading, now);
            if (group.isWhole()) {
                commit(connection);
                committed = true;
            } else {
                PostgresConnections.rollBack(connection);
            }
        } finally {
            if (!committed) {
                limits.keys().forEach(PostgresKey::notAdmitted);
            }
        }
    }

    private static void commit(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("COMMIT")) {
            statement.execute();
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

    private void execute(
            Connection connection,
            PostgresGroup group,
            AdmissionLimits limits,
            Transaction transaction,
            PostgresReading reading,
            @Nullable Long now)
            throws SQLException {
        Variant variant = new Variant(limits.shape(), transaction, !reading.isEmpty(), group.needsLocks());
        AdmissionStatement text = texts.get(variant);
        if (text == null) {
            text = text(variant);
            texts.put(variant, text);
        }
        try (PreparedStatement statement = connection.prepareStatement(text.sql())) {
            int next = bind(statement, text.parameters(), limits, now);
            if (variant.reads()) {
                reading.bind(statement, next);
            }
            if (!statement.execute()) { // the result of BEGIN
                statement.getMoreResults();
            }
            try (ResultSet row = statement.getResultSet()) {
                read(row, variant.shape(), group, limits);
            }
            if (variant.reads()) {
                statement.getMoreResults();
                try (ResultSet row = statement.getResultSet()) {
                    reading.read(row);
                }
            }
        }
    }

    private AdmissionStatement text(Variant variant) {
        AdmissionStatement statement = statements.admission(
                variant.shape(), variant.transaction() == Transaction.BEGUN, variant.reads(), variant.followed());
        String sql = statement.sql() + (variant.reads() ? ";" + statements.read : "");
        return new AdmissionStatement(
                switch (variant.transaction()) {
                    case NONE -> sql;
                    case WHOLE -> BEGIN + sql + ";COMMIT";
                    case BEGUN -> BEGIN + sql;
                },
                statement.parameters());
    }

    private static void read(ResultSet row, AdmissionShape shape, PostgresGroup group, AdmissionLimits limits)
            throws SQLException {
        List<String> columns = shape.columns();
        List<PostgresKey> keys = limits.keys();
        while (row.next()) {
            long at = row.getLong(1);
            PostgresKey key =
                    keys.size() == 1 ? keys.get(0) : group.key(new StateKey(row.getString(2), row.getString(3)));
            Numbered numbered = limits.of(key.number());
            List<String> ofFragment = numbered.fragment().columns();
            long[] values = new long[ofFragment.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = row.getLong(4 + columns.indexOf(ofFragment.get(i)));
            }
            admit(key, at, numbered.fragment().count(at, numbered.numbers(), values));
        }
        for (PostgresKey key : keys) {
            if (!key.isAdmitted()) {
                key.notAdmitted();
            }
        }
    }

    private static void admit(PostgresKey key, long at, Count after) {
        Limit limit = key.limit();
        key.admitted(
                new Admission(limit, at, after, key.taken()),
                new State(limit.algorithm().name(), after, limit.capacity(), 0, at, at, 0));
    }

    private static int bind(
            PreparedStatement statement, List<String> parameters, AdmissionLimits limits, @Nullable Long now)
            throws SQLException {
        int next = 1;
        for (String parameter : parameters) {
            limits.bind(statement, next++, parameter, now);
        }
        return next;
    }
}
