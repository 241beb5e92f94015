package dev.ratelimit.admin;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.TrialNames;
import dev.ratelimit.support.JsonText;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resets the counts, violations and penalties of subjects, and tells all instances.
 *
 * <ol>
 *   <li>In one transaction the reset is logged and announced. If counts are in the same database, it also removes them.
 *   <li>If they are elsewhere, the store is asked before the transaction is committed. If the store fails, nothing is logged.
 *   <li>After the commit this instance forgets what it remembers. Others do so when they read the announcement.
 * </ol>
 *
 * Where nothing is stored, only the store is asked, and the reset is a line of the application's log.
 */
final class Resets {

    private static final Logger log = LoggerFactory.getLogger(Resets.class);

    /** The store decides them together. */
    private static final int MOST_AT_ONCE = 100;

    /** One limit for each name that a quota counts under. */
    private static final List<Limit> ALL_OF_A_QUOTA = Stream.of(
                    new Quota(1L, 1L, 1L, 1L, null, null), new Quota(1L, null, null, null, 1L, null))
            .flatMap(quota -> quota.limits(ZoneId.of("UTC")).stream())
            .collect(Collectors.toMap(Limit::name, limit -> limit, (one, other) -> one, LinkedHashMap::new))
            .values()
            .stream()
            .toList();

    /** A subject and the limit that counts it. */
    private record Counted(Subject subject, Limit limit) {}

    /** Rolls the transaction back. */
    private static final class StoreFailedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private final PolicyStorage storage;
    private final RateLimiter limiter;

    Resets(PolicyStorage storage, RateLimiter limiter) {
        this.storage = storage;
        this.limiter = limiter;
    }

    /**
     * Resets a subject on a limit. If the store fails, returns false.
     *
     * @throws IllegalArgumentException if there is no such limit, and nothing was counted under its name
     */
    boolean reset(Subject subject, String limit, String action, Change change) {
        requireKnown(subject, limit);
        return reset(
                subject,
                named(limit).stream().map(one -> new Counted(subject, one)).toList(),
                limit,
                action,
                change);
    }

    /** A typing error must not look like a success. */
    private void requireKnown(Subject subject, String name) {
        Limits limits = storage.current().limits();
        boolean known = name.equals(Quota.LIMIT)
                || limits.find(name) != null
                || storage.states(subject, SubjectAdmin.MOST).stream()
                        .anyMatch(state -> state.limit().equals(name));
        if (!known) {
            throw new IllegalArgumentException("no limit '" + name + "' is in force, and none of that name has counted "
                    + subject.text() + "; name one of " + String.join(", ", new TreeSet<>(limits.names())));
        }
    }

    /** Resets a subject wherever it stands. If the store fails, returns false. */
    boolean resetAll(Subject subject, List<SubjectAdmin.Standing> standings, Change change) {
        List<Counted> all = standings.stream()
                .flatMap(standing ->
                        named(standing.limit()).stream().map(limit -> new Counted(standing.subject(), limit)))
                .toList();
        String limits = String.join(
                ", ",
                standings.stream().map(SubjectAdmin.Standing::limit).collect(Collectors.toCollection(TreeSet::new)));
        return reset(subject, all, limits, "reset", change);
    }

    private boolean reset(Subject subject, List<Counted> all, String limits, String action, Change change) {
        change.requireNoExpiry("a reset");
        if (!storage.logsResets()) {
            return resetUnlogged(subject, all, limits, change);
        }
        try {
            boolean removed = storage.change(transaction -> {
                all.stream().map(Counted::subject).distinct().forEach(transaction::announceReset);
                transaction.log(
                        new ChangeLog.Target(action, ChangeLog.Kind.SUBJECT, subject.text()),
                        change,
                        null,
                        JsonText.object(Map.of("limit", limits)));
                if (transaction.removeStates(states(all))) {
                    return true;
                }
                if (!askStore(all)) {
                    throw new StoreFailedException();
                }
                return false;
            });
            if (removed && !askStore(all)) {
                log.debug(
                        "The store did not answer, so this instance may remember {} for a while", LogText.of(subject));
            }
        } catch (StoreFailedException e) {
            return false;
        }
        log.info("Reset limit {} for {}, by {}", LogText.of(limits), LogText.of(subject), LogText.of(change.by()));
        return true;
    }

    private boolean resetUnlogged(Subject subject, List<Counted> all, String limits, Change change) {
        if (!askStore(all)) {
            return false;
        }
        log.info(
                "Reset limit {} for {}, by {} (reason: {}); there is no log of changes to keep this in",
                LogText.of(limits),
                LogText.of(subject),
                LogText.of(change.by()),
                LogText.of(change.reason()));
        return true;
    }

    /** With those of trials, which count under a name of their own. */
    private static List<PolicyStorage.StateName> states(List<Counted> all) {
        return all.stream()
                .flatMap(counted -> Stream.of(
                                counted.limit().name(),
                                TrialNames.candidateOf(counted.limit().name()))
                        .map(name ->
                                new PolicyStorage.StateName(counted.subject().text(), name)))
                .toList();
    }

    private boolean askStore(List<Counted> all) {
        boolean done = true;
        for (int from = 0; from < all.size(); from += MOST_AT_ONCE) {
            LimitRequest request = LimitRequest.NONE;
            for (Counted counted : all.subList(from, Math.min(all.size(), from + MOST_AT_ONCE))) {
                request = request.and(counted.subject(), counted.limit());
            }
            done &= limiter.reset(request);
        }
        return done;
    }

    /** The limits that count under a name. A limit that is gone may still have counts and penalties. */
    private List<Limit> named(String name) {
        if (name.equals(Quota.LIMIT)) {
            return ALL_OF_A_QUOTA;
        }
        Limit known = storage.current().limits().find(name);
        return List.of(
                known != null
                        ? known
                        : Limit.named(name)
                                .algorithm(Algorithms.atMost(1, Window.of(Duration.ofSeconds(1))))
                                .build());
    }
}
