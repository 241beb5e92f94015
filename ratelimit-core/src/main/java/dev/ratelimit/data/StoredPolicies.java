package dev.ratelimit.data;

import dev.ratelimit.InvalidSettingException;
import dev.ratelimit.Limits;
import dev.ratelimit.Micros;
import dev.ratelimit.admin.PolicyCompiler;
import dev.ratelimit.admin.PolicyCompiler.Compiled;
import dev.ratelimit.admin.Problem;
import dev.ratelimit.policy.Accounts;
import dev.ratelimit.policy.ApiKey;
import dev.ratelimit.policy.ApiKeys;
import dev.ratelimit.policy.Configured;
import dev.ratelimit.policy.LiveLimits;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.Policy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The policy in force, made of what is configured and what is stored, and kept up with the database. All is answered
 * from memory. Safe for use by many threads.
 *
 * <ol>
 *   <li>At the start all is read. If that fails, so does the start.
 *   <li>A thread reads the feed of changes in every poll interval, and whenever it is woken: by an own change, or on
 *       PostgreSQL by a notification.
 *   <li>The feed is read from the last change that was seen. If that one is no longer there, changes may have been
 *       missed, and all is read again; so it is if very much has changed; else only what has.
 *   <li>If the database fails, all stays as it is, and the next time tries again.
 * </ol>
 */
public final class StoredPolicies implements Policies, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(StoredPolicies.class);

    private static final Duration LONGEST_POLL = Duration.ofDays(1);
    private static final Duration USES_ARE_WRITTEN = Duration.ofSeconds(10);
    private static final long SHORTEST_WAIT = 1_000;
    private static final Duration END_IS_AWAITED = Duration.ofSeconds(5);

    /** More than that is read as a whole: a statement has no room for any number of names. */
    private static final int MOST_READ_BY_NAME = 1_000;

    /**
     * How changes are noticed.
     *
     * @param pollInterval how often the database is asked
     * @param listen whether to be notified as well, which PostgreSQL can; takes one connection of the data source
     * @param listener is told of resets and changes
     * @param clock what the time is
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
    private final Configured configured;
    private final Options options;
    private final StoredAccounts accounts;
    private final StoredKeys keys;
    private final Limits limits = new LiveLimits(() -> current().limits());

    private final Map<String, List<LimitVersion>> limitVersions = new HashMap<>();
    private final Map<String, List<RuleVersion>> ruleVersions = new HashMap<>();
    private @Nullable ChangeRow lastChange;
    private Set<Problem> reported = Set.of();
    private volatile Compiled compiled;

    private final Semaphore wake = new Semaphore(0);
    private final Thread poller;
    private final @Nullable PostgresNotifications notifications;
    private volatile boolean closed;
    private boolean failing;
    private long polledAt = System.nanoTime();
    private long usesWrittenAt = System.nanoTime();

    public StoredPolicies(PolicyDatabase database, Configured configured, Options options) {
        this.database = database;
        this.configured = configured;
        this.options = options;
        this.accounts = new StoredAccounts(database);
        this.keys = new StoredKeys(database, options.clock());
        this.compiled = PolicyCompiler.compile(configured, Map.of(), Map.of(), now());
        readAll();
        this.poller = new Thread(this::poll, "ratelimit-changes");
        poller.setDaemon(true);
        poller.start();
        String schema = database.schema();
        this.notifications = schema != null && options.listen()
                ? PostgresNotifications.start(database.dataSource(), schema, wake::release)
                : null;
    }

    @Override
    public Policy current() {
        return compiled.policy();
    }

    /** The limits in force. */
    public Limits limits() {
        return limits;
    }

    /** The tiers, quotas and blocks of users. */
    public Accounts accounts() {
        return accounts;
    }

    public ApiKeys apiKeys() {
        return keys;
    }

    /** The stored rows that cannot be right and are skipped. */
    public List<Problem> problems() {
        List<Problem> problems = new ArrayList<>(compiled.problems());
        problems.addAll(accounts.problems());
        problems.addAll(keys.problems());
        return problems;
    }

    /** Reads what has changed, now. */
    public synchronized void refresh() {
        ChangeRow last = lastChange;
        List<ChangeRow> changes =
                database.changes().findByRevisionGreaterThanEqualOrderByRevision(last == null ? 0 : last.revision());
        if (!isComplete(last, changes) || changes.size() > MOST_READ_BY_NAME) {
            readAll();
            tell(listener -> listener.subjectReset(null));
            return;
        }
        List<ChangeRow> news = last == null ? changes : changes.subList(1, changes.size());
        if (!news.isEmpty()) {
            read(news);
            lastChange = news.get(news.size() - 1);
        } else if (compiled.nextExpiry() <= now()) {
            compile();
            tell(ChangeListener::policyChanged);
        }
    }

    /** Whether nothing that came after the last change that was seen is missing. */
    private static boolean isComplete(@Nullable ChangeRow last, List<ChangeRow> changes) {
        if (last == null) {
            return changes.isEmpty() || changes.get(0).revision() == ChangeRow.FIRST_REVISION;
        }
        return !changes.isEmpty() && changes.get(0).equals(last);
    }

    private synchronized void readAll() {
        // Before the tables: what is changed meanwhile is then read again.
        ChangeRow newest = database.changes().findFirstByOrderByRevisionDesc().orElse(null);
        List<LimitVersion> allLimits = database.limits().findAllByOrderByResourceAscVersionDesc();
        List<RuleVersion> allRules = database.rules().findAllByOrderByRuleNameAscVersionDesc();
        accounts.readAll();
        keys.readAll();
        limitVersions.clear();
        limitVersions.putAll(byName(allLimits));
        ruleVersions.clear();
        ruleVersions.putAll(byName(allRules));
        compile();
        lastChange = newest;
    }

    private static <V extends StoredVersion> Map<String, List<V>> byName(List<V> versions) {
        Map<String, List<V>> byName = new LinkedHashMap<>();
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
        changedLimits.forEach(
                name -> limitVersions.put(name, database.limits().findByResourceOrderByVersionDesc(name)));
        changedRules.forEach(name -> ruleVersions.put(name, database.rules().findByRuleNameOrderByVersionDesc(name)));
        if (names.containsKey(ChangeRow.QUOTA)) {
            accounts.read(names.getOrDefault(ChangeRow.QUOTA, Set.of()));
        }
        if (names.containsKey(ChangeRow.KEY)) {
            keys.read(names.getOrDefault(ChangeRow.KEY, Set.of()));
        }
        boolean expired = compiled.nextExpiry() <= now();
        if (!changedLimits.isEmpty() || !changedRules.isEmpty() || expired) {
            compile();
        } else {
            report();
        }
        names.getOrDefault(ChangeRow.RESET, Set.of())
                .forEach(subject -> tell(listener -> listener.subjectReset(subject)));
        if (expired || !Set.of(ChangeRow.RESET).containsAll(names.keySet())) {
            tell(ChangeListener::policyChanged);
        }
    }

    private void tell(Consumer<ChangeListener> news) {
        try {
            news.accept(options.listener());
        } catch (RuntimeException e) {
            log.warn("A listener failed on a change: {}", e.getMessage(), e);
        }
    }

    private void compile() {
        try {
            compiled = PolicyCompiler.compile(configured, limitVersions, ruleVersions, now());
        } catch (RuntimeException e) {
            log.warn("What is stored in {} gives no policy; the last one stays in force: {}", database, e.getMessage());
        }
        report();
    }

    /** Says of each problem once that it is there. */
    private void report() {
        Set<Problem> problems = new HashSet<>(problems());
        for (Problem problem : problems) {
            if (!reported.contains(problem)) {
                log.warn("A row of {} cannot be right and is skipped: {}", database, problem);
            }
        }
        reported = problems;
    }

    private long now() {
        return Micros.of(options.clock().instant());
    }

    // The thread that keeps up

    private void poll() {
        while (!closed) {
            boolean woken;
            try {
                woken = wake.tryAcquire(untilNext(), TimeUnit.MICROSECONDS);
                wake.drainPermits();
            } catch (InterruptedException e) {
                break;
            }
            if (!closed) {
                keepUp(woken);
            }
        }
    }

    /** Till the next poll, till uses are written or till something expires, whatever comes first. */
    private long untilNext() {
        long wait = Math.min(Micros.of(options.pollInterval()), Micros.of(USES_ARE_WRITTEN));
        long expiry = compiled.nextExpiry();
        return expiry == Long.MAX_VALUE ? wait : Math.min(wait, Math.max(SHORTEST_WAIT, expiry - now()));
    }

    private void keepUp(boolean woken) {
        try {
            if (woken || failing || hasPassed(options.pollInterval(), polledAt) || compiled.nextExpiry() <= now()) {
                polledAt = System.nanoTime();
                refresh();
            }
            if (hasPassed(USES_ARE_WRITTEN, usesWrittenAt)) {
                usesWrittenAt = System.nanoTime();
                keys.writeUses();
            }
            if (failing) {
                failing = false;
                log.info("Changes of limits and rules are read from {} again", database);
            }
        } catch (RuntimeException | Error e) {
            if (!failing && !closed) {
                failing = true;
                log.warn(
                        "Changes of limits and rules cannot be read from {}; all stays as it is, and it is tried again: {}",
                        database,
                        e.getMessage());
            }
        }
    }

    private static boolean hasPassed(Duration time, long since) {
        return System.nanoTime() - since >= time.toNanos();
    }

    /** Writes the uses of keys that are not written yet, and ends the threads. */
    @Override
    public void close() {
        closed = true;
        if (notifications != null) {
            notifications.close();
        }
        wake.release();
        try {
            poller.join(END_IS_AWAITED.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try {
            keys.writeUses();
        } catch (RuntimeException e) {
            log.warn("The last uses of API keys were not written to {}: {}", database, e.getMessage());
        }
    }

    // For the administration

    public PolicyDatabase database() {
        return database;
    }

    public Configured configured() {
        return configured;
    }

    public InstantSource clock() {
        return options.clock();
    }

    public Compiled compiled() {
        return compiled;
    }

    public StoredKeys keys() {
        return keys;
    }

    @Nullable
    public ApiKey findKey(String id) {
        return keys.find(id);
    }

    /** What would be in force if this version were added. */
    public synchronized Compiled compiledWith(LimitVersion added) {
        return PolicyCompiler.compile(configured, with(limitVersions, added), ruleVersions, now());
    }

    /** What would be in force if this version were added. */
    public synchronized Compiled compiledWith(RuleVersion added) {
        return PolicyCompiler.compile(configured, limitVersions, with(ruleVersions, added), now());
    }

    private static <V extends StoredVersion> Map<String, List<V>> with(Map<String, List<V>> versions, V added) {
        List<V> ofName = new ArrayList<>();
        ofName.add(added);
        ofName.addAll(versions.getOrDefault(added.name(), List.of()));
        Map<String, List<V>> with = new HashMap<>(versions);
        with.put(added.name(), ofName);
        return with;
    }
}
