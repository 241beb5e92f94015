package dev.ratelimit.sample;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.login.LoginLimits;
import dev.ratelimit.web.servlet.CallerLimits;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Shows callers their remaining quota. This call is never charged. */
@RestController
class UsageController {

    /** One endpoint of each group stands for all: they share their limits. */
    private record Endpoint(String group, String method, String path) {}

    private static final List<Endpoint> ENDPOINTS = List.of(
            new Endpoint("reads", "GET", "/api/campaigns"),
            new Endpoint("mutations", "POST", "/api/campaigns/1/posts"),
            new Endpoint("turns", "POST", "/api/campaigns/1/scenes/1/posts"),
            new Endpoint("creation", "POST", "/api/campaigns"),
            new Endpoint("uploads", "POST", "/api/upload/avatar"),
            new Endpoint("compose-lock", "POST", "/api/scenes/1/compose-lock/acquire"),
            new Endpoint("join", "POST", "/api/campaigns/1/join"));

    private final CallerLimits limits;
    private final LoginLimits logins;

    UsageController(CallerLimits limits, LoginLimits logins) {
        this.limits = limits;
        this.logins = logins;
    }

    /**
     * @param caller the user, or the address of an anonymous caller
     * @param exempt whether no limit applies, so that nothing is listed
     * @param quota by the part of the calendar that it is for: {@code day}, {@code month}
     * @param limits by group of endpoints; of each the limit with the least room, as in the headers of an answer
     * @param login the failed logins that remain to the address for the name that was asked for
     */
    record Usage(
            String caller,
            String tier,
            boolean exempt,
            Map<String, Used> quota,
            Map<String, Left> limits,
            @Nullable Left login) {}

    /** Rounded up: a client that waits for so many seconds has waited for long enough. */
    private static long wholeSeconds(Duration time) {
        return Math.max(0, time.plusNanos(999_999_999).toSeconds());
    }

    /**
     * @param limit the limit, or {@code null} if it is unlimited; {@code remaining} is then {@code null}, too
     */
    record Used(long used, @Nullable Long limit, @Nullable Long remaining, Instant reset, long resetAfter) {

        static Used of(LimitDecision quota, Instant now) {
            long limit = quota.limit().capacity();
            boolean restricted = limit != Limit.UNRESTRICTED;
            return new Used(
                    limit - quota.remaining(),
                    restricted ? limit : null,
                    restricted ? quota.remaining() : null,
                    quota.resetAt(),
                    wholeSeconds(Duration.between(now, quota.resetAt())));
        }
    }

    /**
     * @param name of the limit
     * @param penalised whether it is denied because of repeated violations
     * @param retryAfter in how many seconds the next request may pass, which may be later than now even if some remain
     * @param resetAfter in how many seconds the limit resets, for clients whose clock may be wrong
     */
    record Left(
            String name,
            long limit,
            long remaining,
            boolean penalised,
            long retryAfter,
            Instant reset,
            long resetAfter) {

        static Left of(LimitDecision limit, Instant now) {
            return new Left(
                    limit.limit().name(),
                    limit.limit().capacity(),
                    limit.remaining(),
                    limit.penaltyUntil() != null,
                    wholeSeconds(limit.retryAfter()),
                    limit.resetAt(),
                    wholeSeconds(Duration.between(now, limit.resetAt())));
        }
    }

    @GetMapping("/api/usage")
    Usage usage(HttpServletRequest request, @RequestParam(defaultValue = "") String login) {
        Caller caller = limits.caller(request);
        String name = caller.user() == null ? limits.client(request) : caller.user();
        Map<String, Used> quota = new LinkedHashMap<>();
        Map<String, Left> groups = new LinkedHashMap<>();
        boolean exempt = limits.isExempt(request);
        if (!exempt) {
            for (Endpoint endpoint : ENDPOINTS) {
                Decision decision = peek(request, endpoint);
                decision.limits().stream()
                        .filter(one -> caller.quota().contains(one.limit()))
                        .forEach(one -> quota.put(part(one.limit()), Used.of(one, decision.at())));
                LimitDecision tightest = LimitDecision.tightest(decision.limits().stream()
                        .filter(one -> !caller.quota().contains(one.limit()))
                        .toList());
                if (tightest != null) {
                    groups.put(endpoint.group, Left.of(tightest, decision.at()));
                }
            }
        }
        return new Usage(name, caller.tier(), exempt, quota, groups, login.isBlank() ? null : login(login));
    }

    private @Nullable Left login(String name) {
        Decision decision = logins.peek(name);
        LimitDecision tightest = decision.tightest();
        return tightest == null ? null : Left.of(tightest, decision.at());
    }

    private Decision peek(HttpServletRequest request, Endpoint endpoint) {
        Decision decision = limits.peek(request, endpoint.method, endpoint.path);
        if (!decision.outcome().isDecided()) {
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "Your usage is not available now");
        }
        return decision;
    }

    /** {@code day} of {@code quota:day}. */
    private static String part(Limit limit) {
        return Quota.part(limit.name());
    }
}
