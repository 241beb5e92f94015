package dev.ratelimit.data;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.ApiKeyInfo;
import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.PenaltyAdmin;
import dev.ratelimit.admin.PolicyStorage;
import dev.ratelimit.admin.QuotaAdmin;
import dev.ratelimit.admin.SubjectAdmin;
import dev.ratelimit.admin.version.EffectivePolicy;
import dev.ratelimit.admin.version.EffectivePolicy.Versions;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.data.table.ChangeRow;
import dev.ratelimit.policy.LiveLimits;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * The policy in force, compiled from the configuration and the database, and kept up to date with both. Requests are
 * answered from memory. Safe for use by many threads.
 *
 * <ol>
 *   <li>Everything is read at startup. If that fails, so does the startup. Those of {@link #readLater} are read as soon as the
 *       database is available; until then the configuration applies.
 *   <li>A thread reads the change feed in every poll interval, and on PostgreSQL also after each notification.
 *   <li>The feed is read from the last change that was seen. If that entry is gone, changes may have been missed, and
 *       everything is read again. The same is done after very many changes. Otherwise only the changed rows are read.
 *   <li>If the database fails, the current policy is kept and the next poll retries.
 * </ol>
 */
public final class StoredPolicies implements PolicyStorage, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(StoredPolicies.class);

    private static final Duration LONGEST_POLL = Duration.ofDays(1);

    /**
     * The detection of changes.
     *
     * @param pollInterval how often the change feed is read
     * @param listen whether to use notifications as well, on PostgreSQL; takes one connection of the data source
     * @param listeners are notified of resets and changes
     * @param clock gives the time
     */
    public record Options(Duration pollInterval, boolean listen, List<ChangeListener> listeners, InstantSource clock) {

        public static final Options DEFAULT =
                new Options(Duration.ofSeconds(1), true, List.of(), InstantSource.system());

        public Options {
            if (pollInterval.toMillis() < 1 || pollInterval.compareTo(LONGEST_POLL) > 0) {
                throw new InvalidSettingException(
                        "poll-interval", pollInterval, "write a time from 1ms to 1d, such as 1s");
            }
        }
    }

    private final PolicyDatabase database;
    private final StoredCounts counts;
    private final PolicyConfiguration configuration;
    private final Options options;
    private final Listeners<ChangeListener> listeners;
    private final ChangeNews news;
    private final StoredAccounts accounts;
    private final StoredApiKeys keys;
    private final Limits limits = LiveLimits.of(this);

    private final StoredTransaction transaction;
    private final PolicyLog policyLog;
    private final StoredVersions versions;
    private final ChangeFeed feed;
    private volatile EffectivePolicy effective;
    private volatile boolean complete;

    private final ChangePoller poller;
    private volatile @Nullable PostgresNotifications notifications;

    public StoredPolicies(PolicyDatabase database, PolicyConfiguration configuration, Options options) {
        this(database, List.of(database), configuration, options);
    }

    /**
     * @param counting the databases of the store, with the penalties; none if the store has no tables
     */
    public StoredPolicies(
            PolicyDatabase database,
            List<PolicyDatabase> counting,
            PolicyConfiguration configuration,
            Options options) {
        this(database, counting, configuration, options, true);
    }

    /** Policies of a database that is unavailable at startup or has no tables yet. They are read once it answers. */
    public static StoredPolicies readLater(
            PolicyDatabase database,
            List<PolicyDatabase> counting,
            PolicyConfiguration configuration,
            Options options) {
        return new StoredPolicies(database, counting, configuration, options, false);
    }

    private StoredPolicies(
            PolicyDatabase database,
            List<PolicyDatabase> counting,
            PolicyConfiguration configuration,
            Options options,
            boolean atOnce) {
        this.database = database;
        this.counts = new StoredCounts(counting, options.clock());
        this.configuration = configuration;
        this.options = options;
        this.listeners = new Listeners<>(options.listeners());
        this.news = new ChangeNews(listeners, options.clock());
        this.accounts = new StoredAccounts(database, news);
        this.keys = new StoredApiKeys(database, options.clock());
        this.transaction = new StoredTransaction(database, counting, options.clock());
        this.policyLog = new PolicyLog(database);
        this.versions = new StoredVersions(database);
        this.feed = new ChangeFeed(database);
        this.effective = EffectivePolicy.of(configuration, Versions.NONE, now());
        this.poller = new ChangePoller(this, options.pollInterval(), atOnce);
        if (atOnce) {
            readAll();
            listen();
        }
        poller.start();
    }

    /** After everything was read for the first time. */
    private void listen() {
        news.start();
        String schema = database.schema();
        if (schema != null && options.listen() && !database.isPlain()) {
            notifications = PostgresNotifications.start(database.dataSource(), schema, poller::wake);
        }
    }

    /** Reads everything for the first time, once the database is available. */
    void startLater() {
        readAll();
        listeners.tell(ChangeListener::policyChanged);
        listen();
    }

    /** The limits in force. */
    public Limits limits() {
        return limits;
    }

    @Override
    public Accounts accounts() {
        return accounts;
    }

    /** Notes the requests of users with a stored tier, quota or block, for {@link QuotaAdmin}. */
    public DecisionListener requestsOfUsers() {
        return accounts::recorded;
    }

    public ApiKeys apiKeys() {
        return keys;
    }

    @Override
    public List<Problem> problems() {
        List<Problem> problems = new ArrayList<>(effective.problems());
        problems.addAll(accounts.problems());
        problems.addAll(keys.problems());
        return problems;
    }

    /** Reads all changes now. */
    public synchronized void refresh() {
        List<ChangeRow> changes = feed.next();
        if (changes == null) {
            readAll();
            listeners.tell(listener -> listener.subjectReset(null));
        } else if (!changes.isEmpty()) {
            read(changes);
            feed.seen(changes.get(changes.size() - 1));
        } else if (hasExpired()) {
            compile();
            listeners.tell(ChangeListener::policyChanged);
        }
    }

    private synchronized void readAll() {
        // Before the tables: changes made meanwhile are then read again.
        ChangeRow newest = feed.newest();
        accounts.readAll();
        keys.readAll();
        versions.readAll();
        compile();
        feed.seen(newest);
        complete = true;
    }

    private boolean hasExpired() {
        return !effective.nextExpiry().isAfter(now());
    }

    private void read(List<ChangeRow> changes) {
        Map<String, Set<String>> names = new HashMap<>();
        changes.forEach(change ->
                names.computeIfAbsent(change.kind(), kind -> new HashSet<>()).add(change.name()));
        Set<String> changedLimits = names.getOrDefault(ChangeRow.LIMIT, Set.of());
        Set<String> changedRules = names.getOrDefault(ChangeRow.RULE, Set.of());
        versions.read(changedLimits, changedRules);
        if (names.containsKey(ChangeRow.QUOTA)) {
            accounts.read(names.getOrDefault(ChangeRow.QUOTA, Set.of()));
        }
        if (names.containsKey(ChangeRow.KEY)) {
            keys.read(names.getOrDefault(ChangeRow.KEY, Set.of()));
        }
        boolean expired = hasExpired();
        if (!changedLimits.isEmpty() || !changedRules.isEmpty() || expired) {
            compile();
        } else {
            policyLog.problems(problems());
        }
        names.getOrDefault(ChangeRow.RESET, Set.of())
                .forEach(subject -> listeners.tell(listener -> listener.subjectReset(subject)));
        if (expired || !Set.of(ChangeRow.RESET).containsAll(names.keySet())) {
            listeners.tell(ChangeListener::policyChanged);
        }
    }

    private void compile() {
        try {
            EffectivePolicy before = effective;
            effective = EffectivePolicy.of(configuration, versions.cached(), now());
            policyLog.switched(before, effective);
            news.compared(before, effective);
        } catch (RuntimeException e) {
            log.warn(
                    "Could not load policies from {}; keeping the current ones: {}",
                    database,
                    LogText.of(e.getMessage()));
        }
        policyLog.problems(problems());
    }

    private Instant now() {
        return options.clock().instant();
    }

    /** Ends the threads, and writes the uses of API keys and quotas that are not written yet. */
    @Override
    public void close() {
        poller.close();
        PostgresNotifications listening = notifications;
        if (listening != null) {
            listening.close();
        }
        try {
            writeUses();
        } catch (RuntimeException e) {
            log.warn(
                    "Could not write the last uses of API keys and quotas to {}: {}",
                    database,
                    LogText.of(e.getMessage()));
        }
    }

    /** Writes the uses of API keys and quotas since the last time. */
    void writeUses() {
        keys.writeUses();
        accounts.writeUses();
    }

    // For administration

    @Override
    public EffectivePolicy effective() {
        return effective;
    }

    @Override
    public boolean isComplete() {
        return complete;
    }

    @Override
    public InstantSource clock() {
        return options.clock();
    }

    @Override
    public @Nullable ApiKey findKey(String id) {
        return keys.find(id);
    }

    @Override
    public List<Version<Map<String, String>>> limitHistory(String name) {
        return versions.limitHistory(name);
    }

    @Override
    public List<Version<Rule>> ruleHistory(String name) {
        return versions.ruleHistory(name);
    }

    @Override
    public List<QuotaAdmin.UserQuota> userQuotas() {
        return accounts.userQuotas();
    }

    @Override
    public Optional<QuotaAdmin.UserQuota> userQuota(String user) {
        return accounts.userQuota(user);
    }

    @Override
    public List<ApiKeyInfo> keyInfos() {
        return keys.infos();
    }

    @Override
    public List<ApiKeyInfo> keyInfos(String owner) {
        return keys.infos(owner);
    }

    @Override
    public Optional<ApiKeyInfo> keyInfo(String id) {
        return keys.info(id);
    }

    @Override
    public boolean listsCounts() {
        return counts.areListed();
    }

    @Override
    public List<PenaltyAdmin.Penalty> penalties(int most) {
        return counts.penalties(most);
    }

    @Override
    public List<String> subjects(String prefix, int most) {
        return counts.subjects(prefix, most);
    }

    @Override
    public List<SubjectAdmin.StoredState> states(Subject subject, int most) {
        return counts.states(subject, most);
    }

    @Override
    public List<ChangeLog.LoggedChange> changes(ChangeLog.Query query) {
        return database.log().find(query);
    }

    @Override
    public Map<String, Long> activePenalties() {
        return counts.activePenalties();
    }

    @Override
    public <T> T change(Function<Transaction, T> work) {
        T result = database.change(options.clock(), () -> {
            refresh();
            return work.apply(transaction);
        });
        try {
            refresh();
        } catch (DataAccessException e) {
            // The change is committed, so the call must not fail. The poller reads it as soon as it can.
            log.debug("Committed a change, but could not read it at once", e);
        }
        return result;
    }

    PolicyDatabase database() {
        return database;
    }
}
