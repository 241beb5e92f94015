package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.gate.Arrival;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.gate.Identity;
import dev.ratelimit.gate.Instruction;
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.gate.Visit;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.Turn;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** Leads servlet requests through the gate: asks the limiter, writes the headers, and keeps the visit with the request. */
public final class ServletGate {

    private final Gate gate;
    private final ServletRequests requests;
    private final RateLimiter limiter;
    private final RejectionWriter rejections;
    private final Listeners<DecisionListener> listeners;

    public ServletGate(
            Gate gate,
            ServletRequests requests,
            RateLimiter limiter,
            RejectionWriter rejections,
            List<DecisionListener> listeners) {
        this.gate = gate;
        this.requests = requests;
        this.limiter = limiter;
        this.rejections = rejections;
        this.listeners = new Listeners<>(listeners);
    }

    RejectionWriter rejections() {
        return rejections;
    }

    /** Begins the visit of a request. */
    ServletVisit begin(HttpServletRequest request) {
        PathReadings path = ServletPath.of(request).readings();
        ServletRequests.Live live = requests.live(request);
        Visit visit = gate.visit(requests.arrival(request, path, live), Gate.Mode.CHARGE);
        ServletVisit begun = new ServletVisit(visit, live, path, request.getMethod());
        begun.keepWith(request);
        return begun;
    }

    /** The request that the current thread serves, or {@code null}. */
    public static @Nullable ServletRequestAttributes currentRequest() {
        return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes
                        && isThere(attributes.getRequest())
                ? attributes
                : null;
    }

    /** A thread may hold on to a request that is over: it was recycled, and every container fails in its own way. */
    private static boolean isThere(HttpServletRequest request) {
        try {
            ServletVisit unused = ServletVisit.of(request);
            return true;
        } catch (IllegalStateException | NullPointerException e) {
            return false;
        }
    }

    /** The visit of the request; a new one if no filter has begun one. */
    public Visit visitOf(HttpServletRequest request) {
        return servletVisitOf(request).visit;
    }

    private ServletVisit servletVisitOf(HttpServletRequest request) {
        ServletVisit known = ServletVisit.of(request);
        return known == null ? begin(request) : known;
    }

    /**
     * Whether the decisions of the request are published with its record, so that the limiter need not record them. Not after the
     * response, as in an error page or on a thread that goes on.
     */
    public boolean isRecorded(HttpServletRequest request) {
        ServletVisit visit = ServletVisit.of(request);
        return visit != null && visit.isRecorded();
    }

    /** Whether a filter of ours knows when the request is done. */
    boolean passesFilter(HttpServletRequest request) {
        ServletVisit visit = ServletVisit.of(request);
        return visit != null && visit.passesFilter();
    }

    /**
     * The user of the request, as far as authentication knows it now. Spring Security knows it on the thread of the request only;
     * on others it is the one that the gate was told.
     */
    public Identity identityOf(HttpServletRequest request) {
        Identity now = requests.identity(request);
        Identity told = visitOf(request).identity();
        return now.user() == null && told.user() != null ? told : now;
    }

    /** The text that stands for the client: its address, or the network of its IPv6 address. */
    public String clientOf(HttpServletRequest request) {
        return requests.clientOf(request);
    }

    /** Why the request may not pass on arrival, or {@code null}. */
    @Nullable
    Rejection arrive(ServletVisit visit, HttpServletResponse response) {
        return follow(visit.visit.arrive(), visit, response);
    }

    /** Why the request may not pass now that its user is known, or {@code null}. */
    @Nullable
    Rejection identify(ServletVisit visit, HttpServletRequest request, HttpServletResponse response) {
        PathReadings path = ServletPath.of(request).readings();
        Identity user = requests.identity(request);
        visit.live.identified(request);
        if (visit.isRerouted(request, path)) {
            Arrival replaced = requests.arrival(request, path, visit.live);
            Rejection rejection = follow(visit.visit.rerouted(replaced, user), visit, response);
            if (rejection != null) {
                return rejection;
            }
        }
        return follow(visit.visit.identified(user), visit, response);
    }

    private @Nullable Rejection follow(Instruction first, ServletVisit visit, HttpServletResponse response) {
        Instruction next = first;
        while (next instanceof Instruction.Ask ask) {
            long start = System.nanoTime();
            Decision decision = ask.revocable()
                    ? visit.charged(ask.limits(), limiter.charge(ask.limits()))
                    : limiter.decide(ask.limits());
            next = visit.visit.answered(decision, Duration.ofNanos(System.nanoTime() - start));
            if (!visit.visit.hasUnknownApiKey()) {
                rejections.headers().write(visit.visit.decisions(), response::setHeader);
            }
        }
        if (next instanceof Instruction.Reject reject) {
            if (reject.giveBack()) {
                visit.giveBack();
            }
            return reject.rejection();
        }
        if (next instanceof Instruction.Pass pass) {
            Turn.await(pass.delay());
        }
        return null;
    }

    /** Limits were asked during the request, by a method with {@code @RateLimited} or for a login. */
    public void decided(
            HttpServletRequest request,
            @Nullable HttpServletResponse response,
            LimitRequest limits,
            Decision decision,
            Duration took) {
        ServletVisit visit = servletVisitOf(request);
        boolean late = !visit.add(limits, decision, took);
        if (late && limits.isRecordedByCaller()) {
            publish(RequestRecord.of(limits, decision, took)); // the response was complete meanwhile
        }
        if (decision.allowed() && response != null) {
            rejections.headers().write(visit.visit.decisions(), response::setHeader);
        }
    }

    /** Answers a request in which a limited method was denied outside of Spring MVC, which would have answered itself. */
    public void reject(HttpServletRequest request, HttpServletResponse response, RateLimitExceededException exceeded)
            throws IOException {
        if (response.isCommitted()) {
            throw exceeded;
        }
        rejections.write(request, response, exceeded);
    }

    /**
     * Tells listeners about a request that a limit of its own rejected before it reached the gate, as the dashboard does.
     *
     * @param status that of the response
     */
    public void rejectedBefore(
            HttpServletRequest request, LimitRequest limits, Decision decision, Duration took, int status) {
        ServletVisit visit = servletVisitOf(request);
        visit.add(limits, decision, took);
        visit.visit.denied(decision);
        publish(visit, status);
    }

    /** Runs the whole walk at once and charges nothing. */
    Visit peek(HttpServletRequest request, String method, PathReadings path) {
        Visit asking = visitOf(request);
        Arrival arrival = requests.arrival(request, method, path, asking.presentsApiKey() ? asking::apiKey : null);
        Visit visit = gate.visit(arrival, Gate.Mode.PEEK);
        visit.peek(visit.arrive(), limiter::peek);
        visit.peek(visit.identified(identityOf(request)), limiter::peek);
        return visit;
    }

    /** Tells listeners about the request, once its response is complete. */
    void publish(ServletVisit visit, int status) {
        if (!listeners.isEmpty()) {
            publish(visit.completed(status));
        }
    }

    /** Tells listeners about a decision that is in no other record. */
    public void publish(RequestRecord record) {
        listeners.tell(listener -> listener.recorded(record));
    }
}
