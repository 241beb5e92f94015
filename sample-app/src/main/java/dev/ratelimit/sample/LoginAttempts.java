package dev.ratelimit.sample;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.web.ClientAddresses;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Locale;
import org.springframework.stereotype.Component;

/** Whose failed logins are counted: those from one address for one name. */
@Component
class LoginAttempts {

    private final RateLimiter limiter;
    private final ClientAddresses addresses;

    LoginAttempts(RateLimiter limiter, ClientAddresses addresses) {
        this.limiter = limiter;
        this.addresses = addresses;
    }

    /**
     * A name in other letters is the same name: the users are found whatever the case.
     *
     * <p>Public, since it is called by an expression.
     */
    public String key(HttpServletRequest request, String username) {
        return addresses.clientOf(request) + " " + username.strip().toLowerCase(Locale.ROOT);
    }

    /** Whoever knows the password starts anew. */
    void succeeded(HttpServletRequest request, String username) {
        limiter.reset(Subject.of("key", key(request, username)), "login");
    }
}
