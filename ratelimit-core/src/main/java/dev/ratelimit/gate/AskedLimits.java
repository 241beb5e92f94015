package dev.ratelimit.gate;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RequestRecord.Asked;
import dev.ratelimit.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The limits that were asked during a visit, with their answers. Several threads may add some. */
final class AskedLimits {

    private final List<Asked> asked = new ArrayList<>(2);

    /** The limits on trial that were asked for: each counts the request once. */
    private final List<LimitRequest.Item> trials = new ArrayList<>(0);

    /** Limits on trial alone decide nothing, and neither do limits that are switched off. */
    synchronized void add(LimitRequest request, Decision decision, Duration took) {
        boolean unanswered = decision.outcome().isDecided() && decision.limits().isEmpty();
        if (!request.items().isEmpty() && !unanswered) {
            asked.add(new Asked(request, decision, took));
        }
    }

    /** Notes that the charge of these limits was given back. */
    synchronized void givenBack(LimitRequest request) {
        asked.replaceAll(
                one -> one.request().equals(request) ? new Asked(request, one.decision(), one.took(), true) : one);
    }

    synchronized void addTrials(LimitRequest request) {
        trials.addAll(request.trials());
    }

    boolean wasAsked(Subject subject, Limit limit) {
        return decisionOn(subject, limit) != null;
    }

    /** The decision in which the limit was asked for the subject, or {@code null}. */
    synchronized @Nullable Decision decisionOn(Subject subject, Limit limit) {
        for (int i = 0; i < asked.size(); i++) {
            if (asked.get(i).request().asks(subject, limit.name())) {
                return asked.get(i).decision();
            }
        }
        return null;
    }

    synchronized boolean wasOnTrial(Subject subject, Limit limit) {
        for (LimitRequest.Item one : trials) {
            if (one.asks(subject, limit.name())) {
                return true;
            }
        }
        return false;
    }

    synchronized List<Asked> all() {
        return List.copyOf(asked);
    }

    /** The decisions in their order. */
    synchronized List<Decision> decisions() {
        List<Decision> decisions = new ArrayList<>(asked.size());
        for (int i = 0; i < asked.size(); i++) {
            decisions.add(asked.get(i).decision());
        }
        return decisions;
    }
}
