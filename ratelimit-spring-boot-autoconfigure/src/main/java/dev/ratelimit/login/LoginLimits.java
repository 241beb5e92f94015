package dev.ratelimit.login;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.web.servlet.ServletGate;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;

/**
 * Limits failed logins. Safe for use by many threads.
 *
 * <ol>
 *   <li>A login is charged before its password is checked: by address and name, by address, and by name. Guesses at the same
 *       moment cannot pass unseen. A denied login is answered without checking the password.
 *   <li>A correct login, or one that could not be checked, gets its charge back. A wrong one keeps it.
 *   <li>If only the limit by name denies, an address from which that name has logged in lately is let through.
 * </ol>
 *
 * A correct login does not clear earlier failures. Otherwise a client at the address of an active user could guess without end.
 * Other kinds of authentication, such as remember-me and tokens, pass as they are.
 */
public final class LoginLimits {

    private final RateLimiter limiter;
    private final LoginNumbers numbers;
    private final FailurePolicy onFailure;
    private final ServletGate gate;
    private final LoginsUnderWay underWay;
    private final KnownAddresses known;

    /** Set while a login is checked on this thread: a manager may ask another one that is limited, too. */
    private final ThreadLocal<Boolean> checking = new ThreadLocal<>();

    public LoginLimits(RateLimiter limiter, LoginNumbers numbers, FailurePolicy onFailure, ServletGate gate) {
        this.limiter = limiter;
        this.numbers = numbers;
        this.onFailure = onFailure;
        this.gate = gate;
        this.underWay = new LoginsUnderWay(limiter);
        this.known = new KnownAddresses(limiter, numbers.together());
    }

    /** A manager that limits the failed logins of another one. Beans of type {@link AuthenticationManager} are limited already. */
    public AuthenticationManager limited(AuthenticationManager passwords) {
        return login -> authenticate(passwords, login);
    }

    /** The present answer to a login as that name in the current web request. Charges nothing. */
    public Decision peek(String name) {
        LoginRequest request = LoginRequest.current(gate);
        LimitRequest asked = asked(LoginSubjects.of(request.client(), name), true, request);
        return limiter.peek(request.isExempt() ? LimitRequest.NONE : asked);
    }

    Authentication authenticate(AuthenticationManager passwords, Authentication login) {
        if (!(login instanceof UsernamePasswordAuthenticationToken) || checking.get() != null) {
            return passwords.authenticate(login);
        }
        checking.set(true);
        try {
            LoginRequest request = LoginRequest.current(gate);
            return numbers.isOff() || request.isExempt()
                    ? passwords.authenticate(login)
                    : check(passwords, login, request);
        } finally {
            checking.remove();
        }
    }

    private Authentication check(AuthenticationManager passwords, Authentication login, LoginRequest request) {
        LoginSubjects subjects = LoginSubjects.of(request.client(), login.getName());
        LoginCharge charge = charge(subjects, request);
        if (charge == null) {
            return passwords.authenticate(login);
        }
        Decision decision = charge.decision();
        if (!decision.allowed()) {
            request.decided(charge);
            throw new RateLimitExceededException(decision);
        }
        boolean counts = true;
        try {
            charge.awaitTurn();
            Authentication user = passwords.authenticate(login);
            counts = !user.isAuthenticated();
            return user;
        } catch (AuthenticationServiceException e) {
            counts = false; // a directory that is down says nothing about the password
            throw e;
        } finally {
            settle(charge, counts, subjects, request);
        }
    }

    private void settle(LoginCharge charge, boolean counts, LoginSubjects subjects, LoginRequest request) {
        try {
            if (counts) {
                request.decided(charge);
            } else {
                charge.giveBack();
            }
        } finally {
            underWay.done(charge.request(), subjects);
        }
        Subject together = subjects.together();
        if (!counts && together != null) {
            known.succeeded(together);
        }
    }

    /** Charges the login; {@code null} if it has neither an address nor a name. */
    private @Nullable LoginCharge charge(LoginSubjects subjects, LoginRequest request) {
        Subject together = subjects.together();
        LimitRequest withoutName = asked(subjects, false, request);
        LimitRequest all =
                together != null && known.isRemembered(together) ? withoutName : asked(subjects, true, request);
        if (all.items().isEmpty()) {
            return null;
        }
        LoginCharge charge = begin(all, subjects);
        return together != null && isDeniedByNameAlone(charge.decision(), subjects) && known.contains(together)
                ? begin(withoutName, subjects)
                : charge;
    }

    private LoginCharge begin(LimitRequest login, LoginSubjects subjects) {
        long start = System.nanoTime();
        Reservation reservation = underWay.begin(login, subjects);
        return new LoginCharge(login, reservation, System.nanoTime() - start);
    }

    private LimitRequest asked(LoginSubjects subjects, boolean byName, LoginRequest request) {
        LimitRequest asked = LimitRequest.NONE;
        if (subjects.together() != null) {
            asked = asked.and(subjects.together(), numbers.byBoth());
        }
        if (subjects.address() != null) {
            asked = asked.and(subjects.address(), numbers.byAddress());
        }
        Limit ofName = byName ? numbers.byName() : null;
        if (subjects.name() != null && ofName != null) {
            asked = asked.and(subjects.name(), ofName);
        }
        asked = asked.onFailure(onFailure);
        return request.isRecorded() ? asked.recordedByCaller() : asked;
    }

    private static boolean isDeniedByNameAlone(Decision decision, LoginSubjects subjects) {
        Subject name = subjects.name();
        return name != null
                && !decision.allowed()
                && decision.outcome().isDecided()
                && decision.limits().stream()
                        .filter(limit -> !limit.allowed())
                        .allMatch(limit -> limit.subject().equals(name));
    }
}
