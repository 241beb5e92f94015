package dev.ratelimit.login.check;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.web.servlet.filter.ServletGate;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The web request of a login, or none.
 *
 * @param request {@code null} outside of web requests, where no address is known
 */
record LoginRequest(
        ServletGate gate,
        @Nullable HttpServletRequest request,
        @Nullable HttpServletResponse response) {

    /** The login request of the current thread. */
    static LoginRequest current(ServletGate gate) {
        ServletRequestAttributes current = ServletGate.currentRequest();
        return current == null
                ? new LoginRequest(gate, null, null)
                : new LoginRequest(gate, current.getRequest(), current.getResponse());
    }

    /** By its address. A path exempts nobody from guessing passwords on it. */
    boolean isExempt() {
        return request != null && gate.visitOf(request).isExemptByAddress();
    }

    @Nullable
    String client() {
        return request == null ? null : gate.clientOf(request);
    }

    boolean isRecorded() {
        return request != null && gate.isRecorded(request);
    }

    /** Adds a login that counts to the record and the headers of the request. Correct logins are not shown. */
    void decided(LimitRequest asked, Decision decision, Duration took) {
        if (request != null) {
            gate.decided(request, response, asked, decision, took);
        }
    }
}
