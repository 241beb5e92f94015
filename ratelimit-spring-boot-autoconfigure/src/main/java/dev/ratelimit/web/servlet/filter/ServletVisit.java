package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.gate.Visit;
import dev.ratelimit.policy.PathReadings;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerMapping;

/** The visit of one servlet request at the gate, kept with the request. */
final class ServletVisit {

    private static final String ATTRIBUTE = ServletVisit.class.getName();

    final Visit visit;
    final ServletRequests.Live live;
    private PathReadings path;
    private String method;
    /** Mostly one; another if the request is rerouted. */
    private final List<Revocable> revocable = new ArrayList<>(1);

    private volatile @Nullable String endpoint;

    /** Guarded by this visit, as is the next. */
    private final Set<RateLimitFilter.Phase> entered = EnumSet.noneOf(RateLimitFilter.Phase.class);

    /** The dispatch in which the request arrived; {@code null} before it does. */
    private @Nullable DispatcherType arrivedBy;

    /** Guarded by this visit, together with adding to the record. */
    private boolean published;

    /** A charge on arrival, and the limits that were asked. */
    private record Revocable(LimitRequest limits, Charged charge) {}

    ServletVisit(Visit visit, ServletRequests.Live live, PathReadings path, String method) {
        this.visit = visit;
        this.live = live;
        this.path = path;
        this.method = method;
    }

    static @Nullable ServletVisit of(HttpServletRequest request) {
        return (ServletVisit) request.getAttribute(ATTRIBUTE);
    }

    void keepWith(HttpServletRequest request) {
        request.setAttribute(ATTRIBUTE, this);
    }

    /** Whether the request passes a filter of ours, which publishes its record and knows when it is done. */
    synchronized boolean passesFilter() {
        return !entered.isEmpty();
    }

    /** Enters a phase; {@code false} if the request has entered it before, or is dispatched again since it arrived. */
    synchronized boolean enters(RateLimitFilter.Phase phase, DispatcherType dispatch) {
        if (entered.isEmpty()) {
            arrivedBy = dispatch;
        }
        return arrivedBy == dispatch && entered.add(phase);
    }

    /** Whether decisions are still part of the record of the request: a filter publishes it, and has not done so yet. */
    synchronized boolean isRecorded() {
        return passesFilter() && !published;
    }

    /**
     * Adds a decision to the visit.
     *
     * @return {@code false} if it came too late for the record
     */
    synchronized boolean add(LimitRequest limits, Decision decision, Duration took) {
        visit.add(limits, decision, took);
        return !published;
    }

    /** The record of the request. Later decisions are no part of it. */
    synchronized RequestRecord completed(int status) {
        published = true;
        return visit.completed(status, endpoint);
    }

    /** Whether a filter has replaced the path or the method since; from now on these are the ones. */
    boolean isRerouted(HttpServletRequest request, PathReadings now) {
        boolean rerouted = !path.equals(now) || !method.equals(request.getMethod());
        path = now;
        method = request.getMethod();
        return rerouted;
    }

    boolean hasReadablePath() {
        return path.isReadable();
    }

    Decision charged(LimitRequest limits, Charged charge) {
        revocable.add(new Revocable(limits, charge));
        return charge.decision();
    }

    /** Gives back the charges on arrival. If the store fails, a charge stays: the safe side. */
    void giveBack() {
        for (Revocable one : revocable) {
            if (one.charge.decision().allowed() && one.charge.giveBack()) {
                visit.givenBack(one.limits);
            }
        }
        revocable.clear();
    }

    /** Notes the pattern of the handler while the request is still there. */
    void noteEndpoint(HttpServletRequest request) {
        if (request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE) instanceof String pattern) {
            endpoint = pattern;
        }
    }
}
