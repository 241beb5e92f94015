package dev.ratelimit.sample;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.web.servlet.CallerLimits;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Locale;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.stereotype.Component;

/** Guesses at a password count for the limit {@code login}, whether they come to /login or with HTTP Basic. */
@Component("guesses")
class PasswordGuesses {

    private static final String LIMIT = "login";

    private final RateLimiter limiter;
    private final CallerLimits callers;
    private final HttpServletRequest request;

    PasswordGuesses(RateLimiter limiter, CallerLimits callers, HttpServletRequest request) {
        this.limiter = limiter;
        this.callers = callers;
        this.request = request;
    }

    /** A name in other letters is the same name: the users are found whatever the case. */
    public Subject by(String client, String name) {
        return Subject.ip(client).and("name", name.strip().toLowerCase(Locale.ROOT));
    }

    /**
     * Checks the password first, then asks the limit. With HTTP Basic every request brings a password, and many correct
     * ones may come at once, so only wrong ones are charged. Once the limit is used up, correct and wrong passwords get
     * the same answer: simultaneous guesses learn no more than the limit allows.
     */
    AuthenticationManager counting(AuthenticationManager passwords) {
        return login -> {
            Subject subject = by(callers.client(request), login.getName());
            try {
                Authentication user = passwords.authenticate(login);
                passOrThrow(limiter.peek(subject, LIMIT));
                return user;
            } catch (AuthenticationException wrong) {
                passOrThrow(limiter.decide(subject, LIMIT));
                throw wrong;
            }
        };
    }

    private static void passOrThrow(Decision decision) {
        if (!decision.allowed()) {
            throw new RateLimitExceededException(decision);
        }
    }
}
