package dev.ratelimit.database;

import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.connection.LaterConnections;
import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.data.PolicyDatabase;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.support.LogText;
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

    private static final String POLICIES = "ratelimit-policies";
    private static final String PENALTIES = "ratelimit-penalties";

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
     * @param required whether to fail if a database that holds limits and rules alone is unavailable now
     */
    public PolicyConnections(
            StateDatabase policies, @Nullable StateDatabase counts, boolean available, boolean required) {
        this.policies = policies;
        boolean apart = counts == null || policies != counts.main();
        try {
            PolicyDatabase now =
                    apart ? connectApart(required) : available ? connect(policies, false, POLICIES, 1, MOST) : null;
            this.available = now != null;
            this.database = now != null ? now : connectLater(policies, apart, POLICIES, 1, MOST);
            this.counting = counting(apart, counts, available);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Returns {@code null} if the database is unavailable, and need not be available yet. */
    private @Nullable PolicyDatabase connectApart(boolean required) {
        try {
            return connect(policies, true, POLICIES, 1, MOST);
        } catch (LimitStoreException e) {
            if (required || !AwaitedLimitStore.isUnavailable(e)) {
                throw e;
            }
            close();
            opened.clear();
            log.warn(
                    "Starting without stored limits and rules; applying the configured ones until they can be read: {}",
                    LogText.of(e.getMessage()));
            return null;
        }
    }

    /** Only SQLite and PostgreSQL have tables. */
    private List<PolicyDatabase> counting(boolean apart, @Nullable StateDatabase counts, boolean countsAvailable) {
        List<PolicyDatabase> all = new ArrayList<>();
        for (StateDatabase one : counts == null ? List.<StateDatabase>of() : counts.all()) {
            if (!apart && one == policies) {
                all.add(database);
            } else if (one instanceof StateDatabase.Sqlite || one instanceof PostgresDatabase) {
                all.add(
                        countsAvailable
                                ? connect(one, false, PENALTIES, 0, 1)
                                : connectLater(one, false, PENALTIES, 0, 1));
            }
        }
        return all;
    }

    private PolicyDatabase connect(StateDatabase to, boolean migrate, String pool, int idle, int most) {
        if (to instanceof StateDatabase.Sqlite sqlite) {
            if (migrate) {
                sqlite.migrate();
            }
            return PolicyDatabase.sqlite(sqlite.file());
        }
        PostgresDatabase postgres = postgres(to);
        LimiterConnections connections = postgres.openForOperators(pool, idle, most, migrate);
        opened.add(connections);
        return PolicyDatabase.postgres(connections, postgres.settings().schema());
    }

    /** Does the same with the first use that works. */
    private PolicyDatabase connectLater(StateDatabase to, boolean migrate, String pool, int idle, int most) {
        if (to instanceof StateDatabase.Sqlite sqlite) {
            return PolicyDatabase.sqlite(migrate ? sqlite.openedLater() : sqlite.file());
        }
        PostgresDatabase postgres = postgres(to);
        LaterConnections later = new LaterConnections(() -> postgres.openForOperators(pool, idle, most, migrate));
        opened.add(later);
        return PolicyDatabase.postgresLater(later, postgres.settings().schema());
    }

    private static PostgresDatabase postgres(StateDatabase to) {
        if (to instanceof PostgresDatabase postgres) {
            return postgres;
        }
        throw new IllegalStateException("limits and rules are not stored in " + to);
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
