package dev.ratelimit.web.servlet;

import dev.ratelimit.Decision;
import dev.ratelimit.Reservation;
import dev.ratelimit.gate.Visit;
import dev.ratelimit.policy.PathReadings;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerMapping;

/** The visit of one servlet request at the gate, kept with the request. */
final class ServletVisit {

    private static final String ATTRIBUTE = ServletVisit.class.getName();

    final Visit visit;
    private PathReadings path;
    private String method;
    private @Nullable Reservation revocable;
    private volatile @Nullable String endpoint;
    private boolean recorded;

    ServletVisit(Visit visit, PathReadings path, String method) {
        this.visit = visit;
        this.path = path;
        this.method = method;
    }

    static @Nullable ServletVisit of(HttpServletRequest request) {
        return (ServletVisit) request.getAttribute(ATTRIBUTE);
    }

    void keepWith(HttpServletRequest request) {
        request.setAttribute(ATTRIBUTE, this);
    }

    /** Whether a filter publishes the record of the request. */
    boolean isRecorded() {
        return recorded;
    }

    void recordedByFilter() {
        recorded = true;
    }

    /** Whether a filter has replaced the path or the method since; from now on these are the ones. */
    boolean isRerouted(HttpServletRequest request, PathReadings now) {
        boolean rerouted = !path.equals(now) || !method.equals(request.getMethod());
        path = now;
        method = request.getMethod();
        return rerouted;
    }

    Decision charged(Reservation reservation) {
        revocable = reservation;
        return reservation.decision();
    }

    /** Gives back the charge on arrival. If the store fails, the charge stays: the safe side. */
    void giveBack() {
        Reservation charge = revocable;
        if (charge != null && charge.decision().allowed()) {
            revocable = null;
            boolean unused = charge.giveBack();
        }
    }

    /** Notes the pattern of the handler while the request is still there. */
    void noteEndpoint(HttpServletRequest request) {
        if (request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE) instanceof String pattern) {
            endpoint = pattern;
        }
    }

    @Nullable
    String endpoint() {
        return endpoint;
    }
}
