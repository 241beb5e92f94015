package dev.ratelimit.admin;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads the usage of a quota. Consumes nothing. */
final class QuotaUsage {

    private static final ZoneId UTC = ZoneId.of("UTC");
    private static final String DAY = Quota.NONE.day(UTC).name();
    private static final String MONTH = Quota.NONE.month(UTC).name();

    private QuotaUsage() {}

    /**
     * @param caller a user or an API key
     */
    static Usage of(Caller caller, RateLimiter limiter) {
        Subject subject = Objects.requireNonNull(caller.quotaSubject(null), "nobody has no quota");
        // With capacities that are never reached: the usage may exceed the quota of today.
        List<Limit> counters = caller.quota().stream()
                .filter(limit -> limit.name().equals(DAY) || limit.name().equals(MONTH))
                .map(Limit::unrestricted)
                .toList();
        List<LimitDecision> counted = peek(subject, counters, limiter);
        return new Usage(
                caller.tier(), used(counted, DAY), used(counted, MONTH), peek(subject, caller.quota(), limiter));
    }

    /** The decision of each limit; empty if the store is unavailable. */
    static List<LimitDecision> peek(Subject subject, List<Limit> limits, RateLimiter limiter) {
        LimitRequest request = null;
        for (Limit limit : limits) {
            request = request == null ? LimitRequest.of(subject, limit) : request.and(subject, limit);
        }
        return request == null ? List.of() : limiter.peek(request).limits();
    }

    private static @Nullable Long used(List<LimitDecision> limits, String name) {
        for (LimitDecision decision : limits) {
            if (decision.limit().name().equals(name)) {
                return decision.limit().capacity() - decision.remaining();
            }
        }
        return null;
    }
}
