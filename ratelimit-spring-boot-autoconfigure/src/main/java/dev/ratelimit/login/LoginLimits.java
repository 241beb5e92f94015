package dev.ratelimit.login;

import dev.ratelimit.Decision;
import org.springframework.security.authentication.AuthenticationManager;

/** Limits failed logins. Inject it to limit a manager of your own, or to look at a limit. Safe for use by many threads. */
public interface LoginLimits {

    /**
     * A manager that limits the failed logins of another one, whatever class their tokens have. Beans of type
     * {@link AuthenticationManager} are limited already, but only for names with passwords. So wrap a manager that checks something
     * else that can be guessed, such as a code.
     */
    AuthenticationManager limited(AuthenticationManager passwords);

    /** The present answer to a login as that name in the current web request. Charges nothing. */
    Decision peek(String name);
}
