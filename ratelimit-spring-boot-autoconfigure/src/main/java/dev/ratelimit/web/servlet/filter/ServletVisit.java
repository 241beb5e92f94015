package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.gate.Visit;
import dev.ratelimit.policy.PathReadings;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
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
    private final List<Charged> revocable = new ArrayList<>(1);

    private volatile @Nullable String endpoint;
    private boolean recorded;

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

    boolean hasReadablePath() {
        return path.isReadable();
    }

    Decision charged(Charged reservation) {
        revocable.add(reservation);
        return reservation.decision();
    }

    /** Gives back the charges on arrival. If the store fails, a charge stays: the safe side. */
    void giveBack() {
        for (Charged charge : revocable) {
            if (charge.decision().allowed()) {
                boolean unused = charge.giveBack();
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

    @Nullable
    String endpoint() {
        return endpoint;
    }
}
