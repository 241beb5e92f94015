package dev.ratelimit.admin;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.policy.Account;
import dev.ratelimit.policy.ApiKey;
import dev.ratelimit.policy.Caller;
import dev.ratelimit.policy.IpAddress;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.Quota;
import dev.ratelimit.policy.RequestFacts;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook;
import dev.ratelimit.policy.SubjectKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;

/** Says what would become of a request. Consumes nothing. */
final class Explainer {

    private static final String NOT_WITHOUT_A_REQUEST = "cannot be known without a request";

    private final PolicyStorage policies;
    private final RateLimiter limiter;
    private final Function<IpAddress, Subject> addresses;
    private final Predicate<Inquiry> exemptions;

    /**
     * @param addresses the subject that a client's address counts as
     * @param exemptions whether no rule is asked about such a request
     */
    Explainer(
            PolicyStorage policies,
            RateLimiter limiter,
            Function<IpAddress, Subject> addresses,
            Predicate<Inquiry> exemptions) {
        this.policies = policies;
        this.limiter = limiter;
        this.addresses = addresses;
        this.exemptions = exemptions;
    }

    /** What is asked about, with all that is known of it. */
    private record Known(
            Policy policy,
            @Nullable IpAddress address,
            @Nullable ApiKey key,
            Caller caller) {}

    Explanation explain(Inquiry inquiry) {
        Policy policy = policies.current();
        ApiKey key = inquiry.apiKey() == null ? null : policies.findKey(inquiry.apiKey());
        Caller caller = policy.tiers().caller(inquiry.user(), inquiry.authorities(), key, policies.accounts());
        Known known = new Known(policy, IpAddress.parse(inquiry.address()), key, caller);
        Set<String> undecided = new HashSet<>();
        RequestFacts facts = new RequestFacts(
                inquiry.method(), false, readings(inquiry.path()), known.address, key, caller, rule -> {
                    undecided.add(rule.name());
                    return false;
                });
        List<Explanation.OfRule> rules = new ArrayList<>();
        for (RuleBook.Explanation explained : policy.rules().explain(facts)) {
            Rule rule = explained.rule();
            rules.add(
                    undecided.contains(rule.name())
                            ? new Explanation.OfRule(
                                    rule,
                                    false,
                                    "its condition " + rule.conditions().expression() + " " + NOT_WITHOUT_A_REQUEST,
                                    List.of())
                            : new Explanation.OfRule(
                                    rule,
                                    explained.applies(),
                                    explained.why(),
                                    explained.applies() && rule.action().hasLimits()
                                            ? limits(rule, known)
                                            : List.of()));
        }
        Account account = caller.account();
        return new Explanation(
                caller.user(),
                caller.tier(),
                policy.tiers().originOfTier(key, account, caller.authorities()),
                inquiry.apiKey() == null
                        ? null
                        : key == null ? "no such key is valid: the request is refused with 401" : key.name(),
                account != null && account.isBlocked(policies.clock().instant()) ? account.blockedUntil() : null,
                exemptions.test(inquiry),
                rules);
    }

    /** As sent, and without a slash at the end, which what serves the request may overlook. */
    private static List<PathContainer> readings(String path) {
        PathContainer sent = PathContainer.parsePath(path);
        return path.length() > 1 && path.endsWith("/")
                ? List.of(sent, PathContainer.parsePath(path.substring(0, path.length() - 1)))
                : List.of(sent);
    }

    private List<Explanation.OfLimit> limits(Rule rule, Known known) {
        Subject subject = subject(rule, known);
        List<Explanation.OfLimit> limits = new ArrayList<>();
        for (Limit asked : known.policy.limitsOf(rule, known.caller)) {
            Subject counted = Quota.isOf(asked) ? ofQuota(known) : subject;
            limits.add(limit(asked, counted, rule));
        }
        return limits;
    }

    private Explanation.OfLimit limit(Limit limit, @Nullable Subject subject, Rule rule) {
        if (subject == null) {
            return new Explanation.OfLimit(
                    limit.name(), null, null, "whose count it is (" + rule.key() + ") " + NOT_WITHOUT_A_REQUEST);
        }
        List<LimitDecision> decisions = QuotaUsage.peek(subject, List.of(limit), limiter);
        return decisions.isEmpty()
                ? new Explanation.OfLimit(limit.name(), subject.text(), null, "the store cannot be asked")
                : new Explanation.OfLimit(limit.name(), subject.text(), decisions.get(0), null);
    }

    private @Nullable Subject subject(Rule rule, Known known) {
        Subject address = known.address == null ? null : addresses.apply(known.address);
        String user = known.caller.user();
        return switch (SubjectKey.parse(rule.name(), rule.key()).kind()) {
            case USER -> user == null ? address : Subject.user(user);
            case IP -> address;
            case USER_AND_IP -> address == null ? null : both(user == null ? address : Subject.user(user), address);
            case API_KEY -> known.key == null ? address : known.key.subject();
            case SESSION, HEADER, BEAN, EXPRESSION -> null;
        };
    }

    /** The caller's, whatever else the rule counts by. */
    private @Nullable Subject ofQuota(Known known) {
        if (known.key != null && known.caller.quotaOfApiKey()) {
            return known.key.subject();
        }
        String user = known.caller.user();
        return user != null ? Subject.user(user) : known.address == null ? null : addresses.apply(known.address);
    }

    private static Subject both(Subject one, Subject address) {
        return one.and("ip", address.text().substring(address.text().indexOf(':') + 1));
    }
}
