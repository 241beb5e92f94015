package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.gate.Rejection;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Leads a request through the gate, once, however often it is dispatched. There are two of these filters: one before
 * authentication, where the request arrives, and one after it, where its user is known. If a filter of the application has
 * forwarded the request before it came here, it arrives where it was forwarded to.
 */
public final class RateLimitFilter extends OncePerRequestFilter {

    /** When a filter decides. */
    public enum Phase {
        BEFORE_AUTHENTICATION,
        AFTER_AUTHENTICATION
    }

    private final Phase phase;
    private final ServletGate gate;
    private final String alreadyFiltered;

    public RateLimitFilter(Phase phase, ServletGate gate) {
        this.phase = phase;
        this.gate = gate;
        this.alreadyFiltered = RateLimitFilter.class.getName() + "." + phase;
    }

    /** Both filters must run, so each remembers under a name of its own that it did. */
    @Override
    protected String getAlreadyFilteredAttributeName() {
        return alreadyFiltered;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        ServletVisit known = ServletVisit.of(request);
        ServletVisit visit = known == null ? gate.begin(request) : known;
        boolean isOuter = !visit.passesFilter();
        if (!visit.enters(phase, request.getDispatcherType())) {
            chain.doFilter(request, response);
        } else if (isOuter) {
            record(visit, request, response, chain);
        } else {
            passOrReject(visit, request, response, chain);
        }
    }

    /** A path that cannot be read cannot be matched: no handler may see a request that a rule for its path might reject. */
    private void passOrReject(
            ServletVisit visit, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        Rejection rejection = phase == Phase.BEFORE_AUTHENTICATION
                ? gate.arrive(visit, response)
                : gate.identify(visit, request, response);
        if (rejection != null) {
            gate.rejections().write(request, response, rejection);
        } else if (visit.hasReadablePath()) {
            chain.doFilter(request, response);
        } else {
            // No error page: Spring would fail on the same path again, with a stack trace in the log.
            response.setStatus(HttpServletResponse.SC_BAD_REQUEST);
        }
    }

    /** The outer of the two filters: once the chain returns, Spring Security has written its answer to an exception. */
    private void record(ServletVisit visit, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        AfterResponse afterResponse = AfterResponse.of(request);
        afterResponse.add(status -> gate.publish(visit, status));
        boolean failed = true;
        try {
            passOrReject(visit, request, response, chain);
            failed = false;
        } catch (RateLimitExceededException e) {
            gate.reject(request, response, e);
            failed = false;
        } catch (ServletException e) {
            if (!(e.getRootCause() instanceof RateLimitExceededException exceeded)) {
                throw e;
            }
            gate.reject(request, response, exceeded);
            failed = false;
        } finally {
            visit.noteEndpoint(request);
            afterResponse.chainReturned(request, response, failed);
        }
    }
}
