package dev.ratelimit.gate;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.gate.Visit.Counted;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.Rule;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the limits that rules ask for in a visit, and whose count each is. */
final class RuleLimits {

    /** Asks for nothing. The visit makes the record of its requests. */
    static final LimitRequest NONE = LimitRequest.NONE.recordedByCaller();

    private RuleLimits() {}

    /**
     * The limits that the rules ask for, each with its subject. A limit that two rules name for the same subject is asked once,
     * for the rule of higher priority. {@link #NONE} if there is none.
     */
    static LimitRequest of(Sender sender, AskedLimits asked, Policy inForce, List<Rule> rules) {
        LimitRequest limits = NONE;
        FailurePolicy strictest = null;
        for (Rule rule : rules) {
            for (Counted counted : countedBy(sender, inForce, rule)) {
                Subject subject = counted.subject();
                if (subject == null || asked.wasAsked(subject, counted.limit())) {
                    continue;
                }
                if (rule.action() == Action.SHADOW) {
                    limits = asked.wasOnTrial(subject, counted.limit())
                            ? limits
                            : limits.trial(subject, counted.limit(), rule.name());
                } else if (!limits.asks(subject, counted.limit().name())) {
                    limits = limits.and(subject, counted.limit(), rule.name());
                    strictest = stricter(strictest, rule.onFailure());
                }
            }
        }
        return strictest == null ? limits : limits.onFailure(strictest);
    }

    private static @Nullable FailurePolicy stricter(@Nullable FailurePolicy one, @Nullable FailurePolicy other) {
        return one == null || other == null ? (one == null ? other : one) : one.and(other);
    }

    /** The limits that a rule asks for, each with its subject. */
    static List<Counted> countedBy(Sender sender, Policy inForce, Rule rule) {
        Subject ofRule = sender.subjectOf(rule);
        List<Counted> counted = new ArrayList<>(rule.limits().size());
        for (String name : rule.limits()) {
            if (inForce.limits().isOff(name)) {
                continue;
            }
            if (name.equals(Quota.LIMIT)) {
                Caller ofQuota = sender.knownCaller();
                Subject subject = ofQuota.quotaSubject(sender.addressSubject());
                ofQuota.quota().forEach(part -> counted.add(new Counted(rule.counting(part), subject)));
            } else {
                counted.add(new Counted(rule.counting(inForce.limit(name, sender.callerSoFar())), ofRule));
            }
        }
        return counted;
    }
}
