package dev.ratelimit.annotation;

import dev.ratelimit.Decision;
import dev.ratelimit.Subject;
import dev.ratelimit.web.AfterResponse;
import dev.ratelimit.web.Callers;
import dev.ratelimit.web.Exemptions;
import dev.ratelimit.web.RateLimitHeaders;
import dev.ratelimit.web.SubjectKeys;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.function.IntConsumer;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** A call that is part of a servlet request. */
public final class ServletCallContext implements CallContext {

    private final ServletRequestAttributes attributes;
    private final SubjectKeys subjectKeys;
    private final Callers callers;
    private final Exemptions exemptions;
    private final RateLimitHeaders headers;
    private final AfterResponse afterResponse;

    private ServletCallContext(
            ServletRequestAttributes attributes,
            SubjectKeys subjectKeys,
            Callers callers,
            Exemptions exemptions,
            RateLimitHeaders headers) {
        this.attributes = attributes;
        this.subjectKeys = subjectKeys;
        this.callers = callers;
        this.exemptions = exemptions;
        this.headers = headers;
        this.afterResponse = AfterResponse.of(attributes.getRequest());
    }

    /** Finds the request of the current thread; a thread that serves none makes its calls outside of the web. */
    public static Source source(
            SubjectKeys subjectKeys, Callers callers, Exemptions exemptions, RateLimitHeaders headers) {
        return () -> RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes
                ? new ServletCallContext(attributes, subjectKeys, callers, exemptions, headers)
                : NONE;
    }

    @Override
    public Subject caller() {
        return subjectKeys.userOrAddress(request());
    }

    @Override
    public String tier() {
        return callers.callerOf(request()).tier();
    }

    @Override
    public boolean isExempt() {
        return exemptions.exempts(request());
    }

    @Override
    public void decided(Decision decision) {
        HttpServletResponse response = attributes.getResponse();
        if (response != null) {
            headers.write(request(), response, decision);
        }
    }

    @Override
    public boolean afterResponse(IntConsumer work) {
        afterResponse.add(work);
        return true;
    }

    @Override
    public String client() {
        return subjectKeys.client(request());
    }

    @Override
    public HttpServletRequest request() {
        return attributes.getRequest();
    }
}
