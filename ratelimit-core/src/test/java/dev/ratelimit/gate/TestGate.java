package dev.ratelimit.gate;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.IpAddress;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.caller.Tiers;
import dev.ratelimit.gate.Gate.ApiKeyGuesses;
import dev.ratelimit.gate.Gate.Mode;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * A gate with rules of its own, and a limiter that is a list of used-up limits. The limits are {@code address},
 * {@code user}, {@code other} and {@code tiered}; {@code tiered} has other numbers for the tier {@code premium}, which users
 * of {@code ROLE_PREMIUM} are of.
 */
final class TestGate {

    static final IpAddress ADDRESS = IpAddress.parse("192.0.2.1");
    static final Duration TOOK = Duration.ofMillis(3);

    private static final LimitBook LIMITS = LimitBook.of(Map.of(
            "address", fiveAMinute(),
            "user", fiveAMinute(),
            "other", fiveAMinute(),
            "tiered",
                    Map.of(
                            "algorithm",
                            "fixed-window",
                            "max-requests",
                            "5",
                            "window",
                            "1m",
                            "tiers.premium.max-requests",
                            "50")));

    final SettableClock clock = new SettableClock();
    final Map<String, Account> accounts = new HashMap<>();

    /** The limits that deny, by name. */
    final Set<String> usedUp = new TreeSet<>();

    /** The limits whose subject is under a penalty, by name. */
    final Set<String> underPenalty = new TreeSet<>();

    /** How long a penalty is. */
    Duration penalty = Duration.ofSeconds(600);

    /** The limits that grant the request and nothing more, by name. */
    final Set<String> nearlyUsedUp = new TreeSet<>();

    /** Every question that was put to the limiter. */
    final List<Instruction.Ask> asks = new ArrayList<>();

    /** How often an API key was looked up. */
    int lookups;

    boolean storeFails;

    @Nullable
    Decision remembered;

    /** The versions of stored rules, by name. */
    final Map<String, Integer> versions = new HashMap<>();

    private final List<Rule> rules = new ArrayList<>();
    private Exemptions exemptions = Exemptions.NONE;
    private boolean checksApiKeys = true;

    private static Map<String, String> fiveAMinute() {
        return Map.of("algorithm", "fixed-window", "max-requests", "5", "window", "1m");
    }

    /** A rule that counts by address, so that it is asked on arrival. */
    static Rule.Builder byAddress(String name) {
        return Rule.named(name).key("ip").limits("address");
    }

    /** A rule that counts by user, so that it is asked after identification. */
    static Rule.Builder byUser(String name) {
        return Rule.named(name).key("user").limits("user");
    }

    TestGate rule(Rule.Builder rule) {
        rules.add(rule.build());
        return this;
    }

    TestGate exempting(Exemptions some) {
        exemptions = some;
        return this;
    }

    TestGate withoutApiKeys() {
        checksApiKeys = false;
        return this;
    }

    TestGate blocking(String user, Duration time) {
        accounts.put(user, new Account(user, null, Quota.NONE, clock.instant().plus(time), "for a test"));
        return this;
    }

    Gate gate() {
        RuleBook book = RuleBook.of(rules, LIMITS, MatchMode.ALL, PathPatternParser.defaultInstance);
        Tiers tiers = new Tiers("free", Map.of("ROLE_PREMIUM", "premium"), Map.of(), ZoneId.of("UTC"));
        Policy policy = new Policy(LIMITS, book, tiers, versions);
        ApiKeyGuesses guesses =
                checksApiKeys ? new ApiKeyGuesses(ApiKeys.guessing("guesses", 3), request -> remembered) : null;
        return new Gate(() -> policy, accounts::get, exemptions, new Subjects(64), guesses, clock);
    }

    Visit visit(Mode mode, Arrival arrival) {
        return gate().visit(arrival, mode);
    }

    /** A visit of a request without an API key. */
    Visit visit(Mode mode, String path) {
        return visit(mode, arrival(path, null));
    }

    Arrival arrival(String path, @Nullable Supplier<@Nullable ApiKey> apiKey) {
        return new Arrival("GET", false, PathReadings.of(path), ADDRESS, apiKey, new BareRequest());
    }

    Supplier<@Nullable ApiKey> presenting(@Nullable ApiKey key) {
        return () -> {
            lookups++;
            return key;
        };
    }

    static ApiKey keyOf(String owner) {
        return new ApiKey("key-1", "ci", owner, null, Quota.NONE);
    }

    /** Answers until there is nothing left to ask. */
    Instruction follow(Visit visit, Instruction first) {
        Instruction next = first;
        while (next instanceof Instruction.Ask ask) {
            asks.add(ask);
            next = visit.answered(answer(ask.limits()), TOOK);
        }
        return next;
    }

    /** Leads a visit to its end, as an adapter does it. */
    Instruction walk(Visit visit, Identity who) {
        Instruction arrived = follow(visit, visit.arrive());
        return arrived instanceof Instruction.Reject ? arrived : follow(visit, visit.identified(who));
    }

    /** The names of the limits of the question at that place, with their subjects. */
    List<String> askedAt(int place) {
        return asks.get(place).limits().items().stream()
                .map(item -> item.limitName() + " of " + item.subject().text())
                .toList();
    }

    /** The answer of the limiter by what is used up. */
    Decision answer(LimitRequest request) {
        FailurePolicy onFailure = request.onFailure() == null ? FailurePolicy.LOCAL : request.onFailure();
        if (storeFails && onFailure != FailurePolicy.LOCAL) {
            boolean open = onFailure == FailurePolicy.OPEN;
            return new Decision(
                    Outcome.FAILED, open, now(), List.of(), Duration.ZERO, new IllegalStateException("down"));
        }
        List<LimitDecision> limits = request.items().stream().map(this::answer).toList();
        return Decision.of(now(), limits, Duration.ZERO, storeFails ? new IllegalStateException("down") : null);
    }

    private LimitDecision answer(LimitRequest.Item item) {
        boolean punished = underPenalty.contains(item.limitName());
        boolean denied = punished || usedUp.contains(item.limitName());
        Instant until = punished ? clock.instant().plus(penalty) : null;
        return new LimitDecision(
                item.subject(),
                item.limit(),
                item.rule(),
                punished ? Outcome.BLOCKED : denied ? Outcome.THROTTLED : Outcome.ALLOWED,
                denied || nearlyUsedUp.contains(item.limitName()) ? 0 : 4,
                now() + 60_000_000,
                punished ? penalty : Duration.ofSeconds(denied ? 60 : 0),
                until,
                0,
                false);
    }

    private long now() {
        return Micros.of(clock.instant());
    }

    /** A live request without headers, session or beans; its conditions are true. */
    private static final class BareRequest implements LiveRequest {

        @Override
        public @Nullable String header(String name) {
            return null;
        }

        @Override
        public @Nullable String sessionId() {
            return null;
        }

        @Override
        public @Nullable Subject resolve(String rule, SubjectKey key) {
            return null;
        }

        @Override
        public boolean isTrue(Rule rule) {
            return true;
        }
    }
}
