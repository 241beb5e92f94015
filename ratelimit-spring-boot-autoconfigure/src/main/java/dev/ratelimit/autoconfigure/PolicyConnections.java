package dev.ratelimit.autoconfigure;

import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.data.PolicyDatabase;
import org.jspecify.annotations.Nullable;

/**
 * The connections for reading and changing limits, rules, quotas and API keys. Decisions have their own, so that
 * administration never keeps them waiting.
 *
 * @param canListen whether one connection may be held all the time, to listen for changes
 */
record PolicyConnections(PolicyDatabase database, @Nullable LimiterConnections connections, boolean canListen)
        implements AutoCloseable {

    /** One to listen for changes, one to read them, one to make them. */
    private static final int MOST = 3;

    static PolicyConnections open(StateDatabase database) {
        if (database instanceof StateDatabase.Sqlite sqlite) {
            return new PolicyConnections(PolicyDatabase.sqlite(sqlite.file()), null, false);
        }
        if (!(database instanceof PostgresDatabase postgres)) {
            throw new IllegalStateException("limits and rules are not stored in memory");
        }
        LimiterConnections connections = postgres.open("ratelimit-policies", 1, MOST);
        try {
            return new PolicyConnections(
                    PolicyDatabase.postgres(connections, postgres.settings().schema()),
                    connections,
                    connections.mayBeHeld() && !postgres.isTransactionPooled());
        } catch (RuntimeException e) {
            connections.close();
            throw e;
        }
    }

    @Override
    public void close() {
        if (connections != null) {
            connections.close();
        }
    }
}
