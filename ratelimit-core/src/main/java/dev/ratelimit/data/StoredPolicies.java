package dev.ratelimit.data;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.EffectivePolicy;
import dev.ratelimit.admin.EffectivePolicy.Versions;
import dev.ratelimit.admin.KeyInfo;
import dev.ratelimit.admin.PenaltyAdmin;
import dev.ratelimit.admin.PolicyStorage;
import dev.ratelimit.admin.Problem;
import dev.ratelimit.admin.QuotaAdmin;
import dev.ratelimit.admin.Revision;
import dev.ratelimit.admin.SubjectAdmin;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.LiveLimits;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * The policy in force, compiled from the configuration and the database, and kept up to date with both. Requests are
 * answered from memory. Safe for use by many threads.
 *
 * <ol>
 *   <li>Everything is read at startup. If that fails, so does the startup. Those of {@link #later} are read as soon as the
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
    private static final Duration USES_ARE_WRITTEN = Duration.ofSeconds(10);
    private static final long SHORTEST_WAIT = 1_000;
    private static final Duration END_IS_AWAITED = Duration.ofSeconds(5);

    /** How often to retry at least, however long the poll interval is. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    /** After more changes everything is read: a statement cannot hold any number of names. */
    private static final int MOST_READ_BY_NAME = 1_000;

    /**
     * The detection of changes.
     *
     * @param pollInterval how often the change feed is read
     * @param listen whether to use notifications as well, on PostgreSQL; takes one connection of the data source
     * @param listener is notified of resets and changes
     * @param clock gives the time
     */
    public record Options(Duration pollInterval, boolean listen, ChangeListener listener, InstantSource clock) {

        public static final Options DEFAULT =
                new Options(Duration.ofSeconds(1), true, ChangeListener.NONE, InstantSource.system());

        public Options {
            if (pollInterval.toMillis() < 1 || pollInterval.compareTo(LONGEST_POLL) > 0) {
                throw new InvalidSettingException(
                        "poll-interval", pollInterval, "write a time from 1ms to 1d, such as 1s");
            }
        }
    }

    private final PolicyDatabase database;
    private final PolicyDatabase counting;
    private final PolicyConfiguration configuration;
    private final Options options;
    private final Listeners<ChangeListener> listeners;
    private final StoredAccounts accounts;
    private final StoredKeys keys;
    private final Limits limits = new LiveLimits(() -> current().limits());

    private final StoredTransaction transaction;
    private final Map<String, List<Revision<Map<String, String>>>> limitVersions = new HashMap<>();
    private final Map<String, List<Revision<Rule>>> ruleVersions = new HashMap<>();
    private @Nullable ChangeRow lastChange;
    private Set<Problem> reported = Set.of();
    private volatile EffectivePolicy effective;

    private final Semaphore wake = new Semaphore(0);
    private final Thread poller;
    private volatile @Nullable PostgresNotifications notifications;
    private volatile boolean closed;
    private boolean started;
    private boolean failing;
    private long polledAt = System.nanoTime();
    private long usesWrittenAt = System.nanoTime();

    public StoredPolicies(PolicyDatabase database, PolicyConfiguration configuration, Options options) {
        this(database, database, configuration, options);
    }

    /**
     * @param counting the database of the store, with the penalties
     */
    public StoredPolicies(
            PolicyDatabase database, PolicyDatabase counting, PolicyConfiguration configuration, Options options) {
        this(database, counting, configuration, options, true);
    }

    /** Those of a database that is unavailable at startup, or has no tables yet. */
    public static StoredPolicies later(
            PolicyDatabase database, PolicyDatabase counting, PolicyConfiguration configuration, Options options) {
        return new StoredPolicies(database, counting, configuration, options, false);
    }

    private StoredPolicies(
            PolicyDatabase database,
            PolicyDatabase counting,
            PolicyConfiguration configuration,
            Options options,
            boolean atOnce) {
        this.database = database;
        this.counting = counting;
        this.configuration = configuration;
        this.options = options;
        this.listeners = new Listeners<>(List.of(options.listener()));
        this.accounts = new StoredAccounts(database);
        this.keys = new StoredKeys(database, options.clock());
        this.transaction = new StoredTransaction(database, options.clock());
        this.effective = EffectivePolicy.of(configuration, Versions.NONE, now());
        if (atOnce) {
            readAll();
            started();
        }
        this.poller = DaemonThreads.named("ratelimit-changes").newThread(this::poll);
        poller.start();
    }

    /** After everything was read for the first time. */
    private void started() {
        started = true;
        String schema = database.schema();
        if (schema != null && options.listen()) {
            notifications = PostgresNotifications.start(database.dataSource(), schema, wake::release);
        }
    }

    /** Reads everything for the first time. It fails quietly: the unavailable store is reported elsewhere. */
    private void startLater() {
        try {
            readAll();
            listeners.tell(ChangeListener::policyChanged);
            started();
        } catch (RuntimeException e) {
            log.debug("Could not read limits and rules from {} yet; retrying", database, e);
        }
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
        ChangeRow last = lastChange;
        List<ChangeRow> changes = database.changes().findFrom(last == null ? 0 : last.revision());
        if (!isComplete(last, changes) || changes.size() > MOST_READ_BY_NAME) {
            readAll();
            listeners.tell(listener -> listener.subjectReset(null));
            return;
        }
        List<ChangeRow> news = last == null ? changes : changes.subList(1, changes.size());
        if (!news.isEmpty()) {
            read(news);
            lastChange = news.get(news.size() - 1);
        } else if (!effective.nextExpiry().isAfter(now())) {
            compile();
            listeners.tell(ChangeListener::policyChanged);
        }
    }

    /** Whether no change after the last one that was seen is missing. */
    private static boolean isComplete(@Nullable ChangeRow last, List<ChangeRow> changes) {
        if (last == null) {
            return changes.isEmpty() || changes.get(0).revision() == ChangeRow.FIRST_REVISION;
        }
        return !changes.isEmpty() && changes.get(0).equals(last);
    }

    private synchronized void readAll() {
        // Before the tables: changes made meanwhile are then read again.
        ChangeRow newest = database.changes().findNewest().orElse(null);
        List<LimitRow> allLimits = database.limits().findAll();
        List<RuleRow> allRules = database.rules().findAll();
        accounts.readAll();
        keys.readAll();
        limitVersions.clear();
        limitVersions.putAll(byName(allLimits.stream().map(LimitRow::revision)));
        ruleVersions.clear();
        ruleVersions.putAll(byName(allRules.stream().map(StoredRule::revision)));
        compile();
        lastChange = newest;
    }

    private static <T> Map<String, List<Revision<T>>> byName(Stream<Revision<T>> versions) {
        Map<String, List<Revision<T>>> byName = new LinkedHashMap<>();
        versions.forEach(version -> byName.computeIfAbsent(version.name(), name -> new ArrayList<>())
                .add(version));
        return byName;
    }

    private void read(List<ChangeRow> changes) {
        Map<String, Set<String>> names = new HashMap<>();
        changes.forEach(change ->
                names.computeIfAbsent(change.kind(), kind -> new HashSet<>()).add(change.name()));
        Set<String> changedLimits = names.getOrDefault(ChangeRow.LIMIT, Set.of());
        Set<String> changedRules = names.getOrDefault(ChangeRow.RULE, Set.of());
        changedLimits.forEach(name -> limitVersions.put(name, limitHistory(name)));
        changedRules.forEach(name -> ruleVersions.put(name, ruleHistory(name)));
        if (names.containsKey(ChangeRow.QUOTA)) {
            accounts.read(names.getOrDefault(ChangeRow.QUOTA, Set.of()));
        }
        if (names.containsKey(ChangeRow.KEY)) {
            keys.read(names.getOrDefault(ChangeRow.KEY, Set.of()));
        }
        boolean expired = !effective.nextExpiry().isAfter(now());
        if (!changedLimits.isEmpty() || !changedRules.isEmpty() || expired) {
            compile();
        } else {
            report();
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
            effective = EffectivePolicy.of(configuration, new Versions(limitVersions, ruleVersions), now());
            reportSwitches(before, effective);
        } catch (RuntimeException e) {
            log.warn("Could not load policies from {}; keeping the current ones: {}", database, e.getMessage());
        }
        report();
    }

    /** Logs which limits, or all of them, have been switched off or on. */
    private static void reportSwitches(EffectivePolicy before, EffectivePolicy after) {
        Set<String> off = after.off();
        for (String name : off) {
            if (!before.off().contains(name)) {
                log.warn("Rate limiting is off: {}, switched {}", spoken(name), author(after, name));
            }
        }
        for (String name : before.off()) {
            if (!off.contains(name)) {
                log.info("Rate limiting is on again: {}, switched {}", spoken(name), author(after, name));
            }
        }
    }

    private static String spoken(String name) {
        return name.equals(LimitBook.ALL) ? "all limits and rules" : "limit '" + name + "'";
    }

    private static String author(EffectivePolicy policy, String name) {
        Revision<?> stored = policy.limits().get(name);
        if (stored == null) {
            return "by the configuration";
        }
        Instant until = stored.expiresAt();
        return "by " + stored.by() + (stored.reason() == null ? "" : " (" + stored.reason() + ")")
                + (until == null ? "" : " until " + until);
    }

    /** Logs each problem once. */
    private void report() {
        Set<Problem> problems = new HashSet<>(problems());
        for (Problem problem : problems) {
            if (!reported.contains(problem)) {
                log.warn("Skipping an invalid row of {}: {}", database, problem);
            }
        }
        reported = problems;
    }

    private Instant now() {
        return options.clock().instant();
    }

    // The polling thread

    private void poll() {
        while (!closed) {
            boolean woken;
            try {
                woken = wake.tryAcquire(untilNext(), TimeUnit.MICROSECONDS);
                wake.drainPermits();
            } catch (InterruptedException e) {
                break;
            }
            if (!closed && started) {
                keepUp(woken);
            } else if (!closed) {
                startLater();
            }
        }
    }

    /** The time to the next poll, write of uses or expiry, in microseconds. */
    private long untilNext() {
        long wait = Math.min(Micros.of(options.pollInterval()), Micros.of(started ? USES_ARE_WRITTEN : RETRY));
        Instant expiry = effective.nextExpiry();
        return expiry.equals(Instant.MAX)
                ? wait
                : Math.min(wait, Math.max(SHORTEST_WAIT, Micros.of(Duration.between(now(), expiry))));
    }

    private void keepUp(boolean woken) {
        try {
            if (woken
                    || failing
                    || hasPassed(options.pollInterval(), polledAt)
                    || !effective.nextExpiry().isAfter(now())) {
                polledAt = System.nanoTime();
                refresh();
            }
            if (hasPassed(USES_ARE_WRITTEN, usesWrittenAt)) {
                usesWrittenAt = System.nanoTime();
                keys.writeUses();
                accounts.writeUses();
            }
            if (failing) {
                failing = false;
                log.info("Reading changes of limits and rules from {} again", database);
            }
        } catch (RuntimeException | Error e) {
            if (!failing && !closed) {
                failing = true;
                log.warn(
                        "Could not read changes of limits and rules from {}; keeping the current ones and retrying: {}",
                        database,
                        e.getMessage());
            }
        }
    }

    private static boolean hasPassed(Duration time, long since) {
        return System.nanoTime() - since >= time.toNanos();
    }

    /** Ends the threads, and writes the uses of API keys and quotas that are not written yet. */
    @Override
    public void close() {
        closed = true;
        wake.release();
        try {
            poller.join(END_IS_AWAITED.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        PostgresNotifications listening = notifications;
        if (listening != null) {
            listening.close();
        }
        try {
            keys.writeUses();
            accounts.writeUses();
        } catch (RuntimeException e) {
            log.warn("Could not write the last uses of API keys and quotas to {}: {}", database, e.getMessage());
        }
    }

    // For administration

    @Override
    public EffectivePolicy effective() {
        return effective;
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
    public List<Revision<Map<String, String>>> limitHistory(String name) {
        return database.limits().find(name).stream().map(LimitRow::revision).toList();
    }

    @Override
    public List<Revision<Rule>> ruleHistory(String name) {
        return database.rules().find(name).stream().map(StoredRule::revision).toList();
    }

    @Override
    public List<QuotaAdmin.UserQuota> userQuotas() {
        accounts.writeUses();
        return database.quotas().findAll().stream().map(QuotaRow::userQuota).toList();
    }

    @Override
    public Optional<QuotaAdmin.UserQuota> userQuota(String user) {
        accounts.writeUses();
        return database.quotas().find(user).map(QuotaRow::userQuota);
    }

    @Override
    public List<KeyInfo> keyInfos() {
        keys.writeUses();
        return database.keys().findAll().stream().map(KeyRow::info).toList();
    }

    @Override
    public List<KeyInfo> keyInfos(String owner) {
        keys.writeUses();
        return database.keys().findByOwner(owner).stream().map(KeyRow::info).toList();
    }

    @Override
    public Optional<KeyInfo> keyInfo(String id) {
        keys.writeUses();
        return database.keys().find(id).map(KeyRow::info);
    }

    @Override
    public List<PenaltyAdmin.Penalty> penalties(int most) {
        long now = Micros.of(now());
        return counting.penalties().findEndingAfter(now, most).stream()
                .map(PenaltyRow::penalty)
                .toList();
    }

    @Override
    public List<String> subjects(String prefix, int most) {
        return counting.states().findSubjects(prefix, most);
    }

    @Override
    public List<SubjectAdmin.StoredState> states(Subject subject, int most) {
        return counting.states().find(subject.text(), Micros.of(now()), most);
    }

    @Override
    public boolean notePenalty(Subject subject, String limit, String metadata) {
        return counting.inTransaction(() -> counting.penalties().note(subject.text(), limit, metadata));
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

    StoredKeys keys() {
        return keys;
    }
}
