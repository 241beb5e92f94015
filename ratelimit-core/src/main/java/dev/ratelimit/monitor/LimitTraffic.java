package dev.ratelimit.monitor;

import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.support.LogText;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The recent requests on one limit. Thread-safe. */
final class LimitTraffic {

    /** Limits of the configuration are few; those of an application that makes names up need not be. */
    private static final int MOST_RULES = 1_000;

    /** Stands for requests without a rule: failed logins, and calls of the limiter by the application. */
    static final String NO_RULE = "none";

    /** The requests of one rule. */
    static final class OfRule {

        private final MinuteCounts asked = new MinuteCounts();
        private final MinuteCounts denied = new MinuteCounts();
        private final DistinctSubjects deniedSubjects = new DistinctSubjects();

        long asked(int minutes, long nanos) {
            return asked.last(minutes, nanos);
        }

        long denied(int minutes, long nanos) {
            return denied.last(minutes, nanos);
        }

        long deniedSubjects(long nanos) {
            return deniedSubjects.estimate(nanos);
        }
    }

    private final Map<String, OfRule> rules = new ConcurrentHashMap<>();
    private final MinuteCounts violations = new MinuteCounts();
    private final DistinctSubjects deniedSubjects = new DistinctSubjects();
    private final LongAdder untold = new LongAdder();

    /**
     * Counts a request.
     *
     * @param charged whether the limits of the request were charged; one with room that was not charged counts nothing
     */
    void add(LimitDecision decision, boolean charged, long nanos) {
        boolean denied = !decision.allowed();
        if (!denied && !charged) {
            return;
        }
        OfRule rule = rule(decision.rule());
        if (rule != null) {
            rule.asked.add(1, nanos);
        }
        if (denied) {
            if (rule != null) {
                rule.denied.add(1, nanos);
                rule.deniedSubjects.add(decision.subject(), nanos);
            }
            untold.increment();
            deniedSubjects.add(decision.subject(), nanos);
            if (decision.outcome() == Outcome.THROTTLED) {
                violations.add(1, nanos);
            }
        }
    }

    private @Nullable OfRule rule(@Nullable String name) {
        String key = name == null ? NO_RULE : name;
        OfRule known = rules.get(key);
        return known != null || rules.size() >= MOST_RULES ? known : rules.computeIfAbsent(key, made -> new OfRule());
    }

    Map<String, OfRule> rules() {
        return rules;
    }

    MinuteCounts violations() {
        return violations;
    }

    long deniedSubjects(long nanos) {
        return deniedSubjects.estimate(nanos);
    }

    /** Logs the denials since the last time, if there are any. */
    void log(Logger log, String limit, long nanos) {
        long denied = untold.sumThenReset();
        if (denied > 0) {
            log.info(
                    "Denied {} of about {} on limit {} in the last minute",
                    counted(denied, "request"),
                    counted(Math.max(1, deniedSubjects.estimateGenerously(nanos)), "subject"),
                    LogText.of(limit));
        }
    }

    private static String counted(long number, String thing) {
        return number + " " + thing + (number == 1 ? "" : "s");
    }
}
