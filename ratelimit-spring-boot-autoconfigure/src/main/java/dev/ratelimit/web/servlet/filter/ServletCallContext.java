package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.gate.Identity;
import dev.ratelimit.gate.Visit;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.web.CallContext;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.time.Duration;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.ServletRequestAttributes;

/** A call that is part of a servlet request. */
public final class ServletCallContext implements CallContext {

    private final ServletRequestAttributes attributes;
    private final ServletGate gate;
    private final Visit visit;
    private final Identity user;

    /** {@code null} if the request passes no filter of ours, so that nothing runs the work. */
    private final @Nullable AfterResponse afterResponse;

    private ServletCallContext(ServletRequestAttributes attributes, ServletGate gate) {
        this.attributes = attributes;
        this.gate = gate;
        this.visit = gate.visitOf(attributes.getRequest());
        this.user = gate.identityOf(attributes.getRequest());
        this.afterResponse =
                gate.passesFilter(attributes.getRequest()) ? AfterResponse.of(attributes.getRequest()) : null;
    }

    /** Finds the request of the current thread; a thread that serves none makes its calls outside of the web. */
    public static Source source(ServletGate gate) {
        return () -> {
            ServletRequestAttributes current = ServletGate.currentRequest();
            return current == null ? NONE : new ServletCallContext(current, gate);
        };
    }

    @Override
    public Subject caller() {
        return visit.subject(user);
    }

    @Override
    public Subject subject(String on, SubjectKey key) {
        return visit.subject(on, key, user);
    }

    @Override
    public String tier() {
        return visit.caller(user).tier();
    }

    @Override
    public boolean isExempt() {
        return visit.isExempt(user);
    }

    @Override
    public boolean isRecorded() {
        return gate.isRecorded(request());
    }

    @Override
    public void decided(LimitRequest limits, Decision decision, Duration took) {
        gate.decided(request(), attributes.getResponse(), limits, decision, took);
    }

    @Override
    public void givenBack(LimitRequest limits) {
        visit.givenBack(limits);
    }

    @Override
    public boolean afterResponse(IntConsumer work) {
        if (afterResponse == null) {
            return false;
        }
        afterResponse.add(work);
        return true;
    }

    @Override
    public @Nullable Principal principal() {
        return request().getUserPrincipal();
    }

    @Override
    public String client() {
        return gate.clientOf(request());
    }

    @Override
    public HttpServletRequest request() {
        return attributes.getRequest();
    }
}
