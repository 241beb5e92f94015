package dev.ratelimit.login.check;

import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.web.servlet.filter.ServletGate;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Supplier;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * The first filter of every chain of Spring Security. It lets limited managers know the request, and answers denied logins.
 * Elsewhere other filters do both; on a management port of its own, only those of Spring Security run.
 */
final class LoginFilter extends OncePerRequestFilter {

    private final Supplier<ServletGate> gate;

    LoginFilter(Supplier<ServletGate> gate) {
        this.gate = gate;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        boolean unknown = RequestContextHolder.getRequestAttributes() == null;
        ServletRequestAttributes attributes = new ServletRequestAttributes(request, response);
        if (unknown) {
            RequestContextHolder.setRequestAttributes(attributes);
        }
        try {
            chain.doFilter(request, response);
        } catch (RateLimitExceededException e) {
            if (gate.get().isRecorded(request)) {
                throw e; // the filter of the limits answers it
            }
            gate.get().reject(request, response, e);
        } finally {
            if (unknown) {
                RequestContextHolder.resetRequestAttributes();
                attributes.requestCompleted();
            }
        }
    }
}
