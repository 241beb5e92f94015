package dev.ratelimit.dashboard;

import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;

/** Decides who may use the dashboard. Asked on every request, by the handlers themselves: no spelling of a path gets around it. */
interface Access {

    /**
     * The sender of a request.
     *
     * @throws RuntimeException if the sender may not look; Spring Security answers it
     */
    Operator operatorOf(HttpServletRequest request);

    /** Whether Spring Security answers this exception. */
    static boolean isForSecurity(RuntimeException e) {
        return e.getClass().getName().startsWith("org.springframework.security.");
    }

    /** Everybody may do everything: {@code ratelimit.dashboard.unprotected}. */
    static Access unprotected() {
        return request -> {
            Principal principal = request.getUserPrincipal();
            return new Operator(principal == null ? "dashboard" : principal.getName(), true);
        };
    }
}
