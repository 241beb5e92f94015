package dev.ratelimit.admin;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.support.JsonText;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Resets the counts, violations and penalties of a subject, and tells all instances. */
final class Resets {

    private static final Logger log = LoggerFactory.getLogger(Resets.class);

    /** One limit for each name that a quota counts under. */
    private static final List<Limit> ALL_OF_A_QUOTA = Stream.of(
                    new Quota(1L, 1L, 1L, 1L, null, null), new Quota(1L, null, null, null, 1L, null))
            .flatMap(quota -> quota.limits(ZoneId.of("UTC")).stream())
            .collect(Collectors.toMap(Limit::name, limit -> limit, (one, other) -> one, LinkedHashMap::new))
            .values()
            .stream()
            .toList();

    private final PolicyStorage storage;
    private final RateLimiter limiter;

    Resets(PolicyStorage storage, RateLimiter limiter) {
        this.storage = storage;
        this.limiter = limiter;
    }

    boolean reset(Subject subject, String limit, String action, Change change) {
        change.requireNoExpiry("a reset");
        storage.requireChangeable(); // a reset that cannot be logged must not happen
        List<Limit> limits = named(limit);
        LimitRequest request = LimitRequest.of(subject, limits.get(0));
        for (Limit other : limits.subList(1, limits.size())) {
            request = request.and(subject, other);
        }
        if (!limiter.reset(request)) {
            return false;
        }
        storage.run(transaction -> {
            transaction.announceReset(subject);
            transaction.log(
                    new ChangeLog.Target(action, ChangeLog.Kind.SUBJECT, subject.text()),
                    change,
                    null,
                    JsonText.object(Map.of("limit", limit)));
        });
        log.info("Reset limit {} for {}, by {}", LogText.of(limit), LogText.of(subject), LogText.of(change.by()));
        return true;
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
