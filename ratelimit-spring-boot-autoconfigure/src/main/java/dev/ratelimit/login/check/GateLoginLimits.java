package dev.ratelimit.login.check;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.login.LoginLimits;
import dev.ratelimit.web.LearnedFromRequests;
import dev.ratelimit.web.LostLimits;
import dev.ratelimit.web.servlet.filter.ServletGate;
import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;

/**
 * Limits failed logins by the limits of the address and the name.
 *
 * <ol>
 *   <li>The limits are looked at first: by address and name, by address, and by name. If one is used up, the login is denied
 *       without checking the password.
 *   <li>A wrong login is charged. If guesses at the same moment have used the limit up meanwhile, it is denied.
 *   <li>After a correct login the limits are looked at once more. If they are used up, it gets the same answer as a wrong one: of
 *       many guesses at once, no more answers are given than the limit allows.
 *   <li>If only the limit by name denies, an address from which that name has logged in lately is let through.
 * </ol>
 *
 * A correct login is never charged, so that many of them at once, also at several instances, do not deny each other. It does not
 * clear earlier failures. Otherwise a client at the address of an active user could guess without end. Every exception of the
 * manager is charged, except an {@link AuthenticationServiceException}: that login could not be checked. Other kinds of
 * authentication, such as remember-me and tokens, pass as they are, unless their manager was wrapped by {@link #limited}.
 */
public final class GateLoginLimits implements LoginLimits, LearnedFromRequests {

    private final RateLimiter limiter;
    private final LoginNumbers numbers;
    private final FailurePolicy onFailure;
    private final ServletGate gate;
    private final KnownAddresses known;
    private final LostLimits lost;
    private final LoginsUnderWay underWay = new LoginsUnderWay();

    /** Set while a login is checked on this thread: a manager may ask another one that is limited, too. */
    private final ThreadLocal<Boolean> checking = new ThreadLocal<>();

    /**
     * @param clock the clock, or {@code null} for that of the machine
     */
    public GateLoginLimits(
            RateLimiter limiter,
            LoginNumbers numbers,
            FailurePolicy onFailure,
            ServletGate gate,
            @Nullable InstantSource clock) {
        this.limiter = limiter;
        this.numbers = numbers;
        this.onFailure = onFailure;
        this.gate = gate;
        this.known = new KnownAddresses(limiter, numbers.together(), clock);
        this.lost = new LostLimits(numbers.limits());
    }

    @Override
    public AuthenticationManager limited(AuthenticationManager passwords) {
        return login -> limited(passwords, login);
    }

    @Override
    public Decision peek(String name) {
        LoginRequest request = LoginRequest.current(gate);
        if (isOff(request)) {
            return limiter.peek(LimitRequest.NONE);
        }
        try {
            return limiter.peek(asked(LoginSubjects.of(request.client(), name), true, request));
        } catch (RateLimitExceededException e) {
            return e.decision(); // the limit is lost
        }
    }

    /** Forgets what this instance remembers of earlier logins. */
    @Override
    public void forget() {
        known.forget();
    }

    /** The answer of a manager that nobody wrapped: only names with passwords are limited. */
    static Authentication authenticate(LoginLimits limits, AuthenticationManager passwords, Authentication login) {
        return login instanceof UsernamePasswordAuthenticationToken
                ? limits.limited(passwords).authenticate(login)
                : passwords.authenticate(login);
    }

    private Authentication limited(AuthenticationManager passwords, Authentication login) {
        if (checking.get() != null) {
            return passwords.authenticate(login);
        }
        checking.set(true);
        try {
            LoginRequest request = LoginRequest.current(gate);
            return isOff(request) ? passwords.authenticate(login) : check(passwords, login, request);
        } finally {
            checking.remove();
        }
    }

    private boolean isOff(LoginRequest request) {
        return numbers.isOff() || request.isExempt();
    }

    private Authentication check(AuthenticationManager passwords, Authentication login, LoginRequest request) {
        LoginSubjects subjects = LoginSubjects.of(request.client(), login.getName());
        LimitRequest asked = withRoom(subjects, request);
        if (asked.items().isEmpty()) {
            return passwords.authenticate(login);
        }
        long number = underWay.begin(asked);
        try {
            Authentication user = chargingFailures(passwords, login, asked, request);
            // Some managers return null for a wrong password, as providers may.
            if (user == null || !user.isAuthenticated()) {
                charge(asked, request);
                return user;
            }
            requireStillRoom(asked, number, request);
            if (subjects.together() != null) {
                known.succeeded(subjects.together());
            }
            return user;
        } finally {
            underWay.done(asked, number);
        }
    }

    private Authentication chargingFailures(
            AuthenticationManager passwords, Authentication login, LimitRequest asked, LoginRequest request) {
        try {
            return passwords.authenticate(login);
        } catch (AuthenticationServiceException | RateLimitExceededException e) {
            throw e; // a directory that is down, or another limit, says nothing about the password
        } catch (Exception e) {
            // Whatever its class, even a checked one from Kotlin: otherwise passwords could be guessed without limit.
            charge(asked, request);
            throw e;
        }
    }

    /** The limits that the login is held to; {@link RateLimitExceededException} if one of them is used up. */
    private LimitRequest withRoom(LoginSubjects subjects, LoginRequest request) {
        Subject together = subjects.together();
        boolean byName = together == null || !known.isRemembered(together);
        LimitRequest asked = asked(subjects, byName, request);
        Decision look = limiter.peek(asked);
        if (byName && together != null && isDeniedByNameAlone(look, subjects) && known.contains(together)) {
            asked = asked(subjects, false, request);
            look = limiter.peek(asked);
        }
        if (!look.allowed()) {
            deny(asked, request);
        }
        return asked;
    }

    /** Looking is no violation, asking is. */
    private void deny(LimitRequest asked, LoginRequest request) {
        long start = System.nanoTime();
        Reservation attempt = limiter.reserve(asked);
        if (attempt.decision().allowed()) {
            boolean unused = attempt.giveBack(); // there is room again
        } else {
            throw exceeded(asked, attempt.decision(), start, request);
        }
    }

    /**
     * Guesses that began before may have used the limits up, or do so when they fail. Otherwise a correct password
     * would stand out from many wrong ones at once where a failure takes longer than a success.
     */
    private void requireStillRoom(LimitRequest asked, long number, LoginRequest request) {
        long start = System.nanoTime();
        boolean waited = true;
        while (waited) {
            Decision look = limiter.peek(asked);
            if (!look.allowed()) {
                if (!asked.isRecordedByCaller()) {
                    gate.publish(RequestRecord.of(asked, look, since(start))); // the limiter does not record a look
                }
                throw exceeded(asked, look, start, request);
            }
            waited = underWay.awaitEarlier(look, number, start);
        }
    }

    private static RateLimitExceededException exceeded(
            LimitRequest asked, Decision decision, long start, LoginRequest request) {
        request.decided(asked, decision, since(start));
        return new RateLimitExceededException(decision);
    }

    private static Duration since(long startNanos) {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    private void charge(LimitRequest asked, LoginRequest request) {
        long start = System.nanoTime();
        Decision decision = limiter.decide(asked);
        if (!decision.allowed()) {
            throw exceeded(asked, decision, start, request);
        }
        request.decided(asked, decision, since(start));
        decision.awaitTurn(); // if a limit is a leaky bucket with max-wait
    }

    private LimitRequest asked(LoginSubjects subjects, boolean byName, LoginRequest request) {
        LimitRequest asked = LimitRequest.NONE;
        if (lost.isLost(numbers.together())) {
            Decision decision = lost.decide(numbers.together(), "ratelimit.login.limit", onFailure);
            if (!decision.allowed()) {
                throw new RateLimitExceededException(decision);
            }
            return asked;
        }
        warnOfMultiple("address-limit", numbers.address());
        warnOfMultiple("name-limit", LoginNumbers.NONE.equals(numbers.name()) ? null : numbers.name());
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

    private void warnOfMultiple(String property, @Nullable String limit) {
        if (limit != null && lost.isLost(limit)) {
            lost.warn(limit, "ratelimit.login." + property, "using a multiple of '" + numbers.together() + "'");
        }
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
