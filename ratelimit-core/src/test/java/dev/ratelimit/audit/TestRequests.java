package dev.ratelimit.audit;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Records of requests, as the gate makes them. */
final class TestRequests {

    private static final Instant AT = Instant.parse("2026-11-18T10:00:00Z");

    private TestRequests() {}

    static RequestRecord allowed(String user, String limit) {
        return of(user, "192.0.2.1", limit, Outcome.ALLOWED, 200, "/api/{id}");
    }

    static RequestRecord throttled(String user, String limit) {
        return of(user, "192.0.2.1", limit, Outcome.THROTTLED, 429, null);
    }

    /** The limit had room, and its charge was given back since the request was rejected later. */
    static RequestRecord givenBack(String user, String limit) {
        RequestRecord request = allowed(user, limit);
        RequestRecord.Asked asked = request.asked().get(0);
        return new RequestRecord(
                Outcome.BLOCKED,
                false,
                null,
                null,
                Duration.ZERO,
                List.of(new RequestRecord.Asked(asked.request(), asked.decision(), asked.took(), true)),
                request.exchange(),
                AT);
    }

    /** A login that was denied: nobody knows yet who it is. */
    static RequestRecord throttledLogin(Subject subject) {
        return of(decision(subject, "login", Outcome.THROTTLED), null, "192.0.2.1", 429, "/login");
    }

    static RequestRecord of(String user, String address, String limit, Outcome outcome, int status, String endpoint) {
        return of(decision(user, limit, outcome), user, address, status, endpoint);
    }

    private static RequestRecord of(LimitDecision one, String user, String address, int status, String endpoint) {
        Decision decision = Decision.of(0, List.of(one), Duration.ZERO, null);
        return new RequestRecord(
                one.outcome(),
                one.allowed(),
                "rule-of-" + one.limit().name(),
                3,
                Duration.ofSeconds(decision.retryAfterSeconds()),
                List.of(new RequestRecord.Asked(
                        LimitRequest.of(one.subject(), one.limit()), decision, Duration.ofNanos(250_000))),
                new RequestRecord.Exchange("GET", "/api/7", endpoint, status, address, user, "key-1", "free"),
                AT);
    }

    /** One limit's part of an answer, or the answer of a limit on trial. */
    static LimitDecision decision(String user, String limit, Outcome outcome) {
        return decision(Subject.user(user), limit, outcome);
    }

    private static LimitDecision decision(Subject subject, String limit, Outcome outcome) {
        boolean allowed = outcome == Outcome.ALLOWED;
        return new LimitDecision(
                subject,
                Limit.named(limit)
                        .algorithm(new FixedWindow(10, Duration.ofMinutes(1)))
                        .build(),
                "rule-of-" + limit,
                outcome,
                allowed ? 4 : 0,
                0,
                allowed ? Duration.ZERO : Duration.ofSeconds(42),
                null,
                0,
                false);
    }

    /** Without a limit: by a rule or an account, or since it is exempt. */
    static RequestRecord undecided(Outcome outcome, boolean allowed, String user, String address) {
        return new RequestRecord(
                outcome,
                allowed,
                allowed ? null : "gate-rule",
                null,
                Duration.ZERO,
                List.of(),
                new RequestRecord.Exchange("POST", "/pay", null, allowed ? 200 : 403, address, user, null, null),
                AT);
    }

    /** The store did not decide. */
    static RequestRecord failed(String user, String limit, boolean open) {
        LimitRequest request = LimitRequest.of(Subject.user(user), limit);
        Decision decision = new Decision(
                Outcome.FAILED, open, 0, List.of(), Duration.ofSeconds(1), new IllegalStateException("down"));
        return new RequestRecord(
                Outcome.FAILED,
                open,
                null,
                null,
                Duration.ofSeconds(decision.retryAfterSeconds()),
                List.of(new RequestRecord.Asked(request, decision, Duration.ofMillis(100))),
                new RequestRecord.Exchange("GET", "/api/7", null, open ? 200 : 503, "192.0.2.1", user, null, null),
                AT);
    }

    /** The same, but with that method and path. */
    static RequestRecord asking(String method, String path, RequestRecord request) {
        RequestRecord.Exchange exchange = request.exchange();
        return new RequestRecord(
                request.outcome(),
                request.allowed(),
                request.rule(),
                request.ruleVersion(),
                request.retryAfter(),
                request.asked(),
                new RequestRecord.Exchange(
                        method,
                        path,
                        exchange.endpoint(),
                        exchange.status(),
                        exchange.address(),
                        exchange.user(),
                        exchange.apiKey(),
                        exchange.tier()),
                request.at());
    }

    /** The same, but the client was told to wait that long; zero if it was told nothing. */
    static RequestRecord telling(Duration retryAfter, RequestRecord request) {
        return new RequestRecord(
                request.outcome(),
                request.allowed(),
                request.rule(),
                request.ruleVersion(),
                retryAfter,
                request.asked(),
                request.exchange(),
                request.at());
    }
}
