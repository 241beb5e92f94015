package dev.ratelimit.database;

import dev.ratelimit.connection.LaterConnections;
import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.data.PolicyDatabase;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections for reading and changing limits, rules, quotas and API keys. Decisions have their own, so that
 * administration never keeps them waiting.
 */
public final class PolicyConnections implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PolicyConnections.class);

    /** One to listen for changes, one to read them, one to make them. */
    private static final int MOST = 3;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final boolean available;
    private final StateDatabase policies;
    private final PolicyDatabase database;
    private final List<PolicyDatabase> counting;

    /**
     * @param policies the database of the limits and rules
     * @param counts the database of the counts, whose schema is up to date; {@code null} if it is not known
     * @param available whether that database is; if it is that of the limits and rules, too, nothing waits for it otherwise
     */
    public PolicyConnections(StateDatabase policies, @Nullable StateDatabase counts, boolean available) {
        this.policies = policies;
        boolean apart = counts == null || policies != counts.main();
        this.available = apart || available;
        try {
            this.database = connect(policies, apart, this.available, "ratelimit-policies", 1, MOST);
            this.counting = counting(apart, counts, available);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Only SQLite and PostgreSQL have tables. */
    private List<PolicyDatabase> counting(boolean apart, @Nullable StateDatabase counts, boolean countsAvailable) {
        List<PolicyDatabase> all = new ArrayList<>();
        for (StateDatabase one : counts == null ? List.<StateDatabase>of() : counts.all()) {
            if (!apart && one == policies) {
                all.add(database);
            } else if (one instanceof StateDatabase.Sqlite || one instanceof PostgresDatabase) {
                all.add(connect(one, false, countsAvailable, "ratelimit-penalties", 0, 1));
            }
        }
        return all;
    }

    private PolicyDatabase connect(StateDatabase to, boolean migrate, boolean now, String pool, int idle, int most) {
        if (to instanceof StateDatabase.Sqlite sqlite) {
            if (migrate) {
                sqlite.migrate();
            }
            return PolicyDatabase.sqlite(sqlite.file());
        }
        if (!(to instanceof PostgresDatabase postgres)) {
            throw new IllegalStateException("limits and rules are not stored in " + to);
        }
        if (!now) {
            LaterConnections later = new LaterConnections(() -> postgres.openForOperators(pool, idle, most, false));
            opened.add(later);
            return PolicyDatabase.postgresLater(later, postgres.settings().schema());
        }
        LimiterConnections connections = postgres.openForOperators(pool, idle, most, migrate);
        opened.add(connections);
        return PolicyDatabase.postgres(connections, postgres.settings().schema());
    }

    public PolicyDatabase database() {
        return database;
    }

    /** Whether the limits and rules can be read now. */
    public boolean isAvailable() {
        return available;
    }

    /** The databases with the penalties; none if the store has no tables. */
    public List<PolicyDatabase> counting() {
        return counting;
    }

    /** Whether one connection may be held all the time, to listen for changes. */
    public boolean canListen() {
        return policies instanceof PostgresDatabase postgres
                && !postgres.isTransactionPooled()
                && opened.get(0) instanceof LimiterConnections connections
                && connections.mayBeHeld();
    }

    @Override
    public void close() {
        for (AutoCloseable connections : opened) {
            try {
                connections.close();
            } catch (Exception e) {
                log.debug("Ignoring a failure to close connections", e);
            }
        }
    }
}
