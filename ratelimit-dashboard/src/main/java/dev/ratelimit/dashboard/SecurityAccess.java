package dev.ratelimit.dashboard;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * Asks Spring Security for the sender of a request. Someone unknown is sent to the application's own login, someone without the
 * authority is refused, both by the application's own security.
 */
final class SecurityAccess implements Access {

    private final String view;
    private final String steer;

    SecurityAccess(DashboardProperties properties) {
        this.view = properties.viewAuthority();
        this.steer = properties.steerAuthority();
    }

    @Override
    public Operator operatorOf(HttpServletRequest request) {
        Authentication user = SecurityContextHolder.getContext().getAuthentication();
        if (user == null) {
            // No filter chain of Spring Security applies here, so none would answer an exception of its own.
            throw RefusedException.of(
                    401, "Nobody is logged in. Include this path in a SecurityFilterChain of the application.");
        }
        boolean maySteer = has(user, steer);
        if (!user.isAuthenticated() || !(maySteer || has(user, view))) {
            throw new AccessDeniedException("The dashboard requires the authority " + view + " or " + steer);
        }
        return new Operator(user.getName(), maySteer);
    }

    private static boolean has(Authentication user, String authority) {
        return user.getAuthorities().stream()
                .map(GrantedAuthority::getAuthority)
                .anyMatch(authority::equals);
    }
}
