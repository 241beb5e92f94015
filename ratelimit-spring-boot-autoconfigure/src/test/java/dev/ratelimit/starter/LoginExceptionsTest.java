package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.login.LoginLimits;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.InternalAuthenticationServiceException;
import org.springframework.security.authentication.LockedException;
import org.springframework.security.authentication.ProviderManager;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authentication.dao.DaoAuthenticationProvider;
import org.springframework.security.core.Authentication;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** Which exceptions of an {@code AuthenticationManager} count as failed logins: all but those that say it could not check. */
class LoginExceptionsTest {

    private static final int ALLOWED = 2;

    @BeforeEach
    void beginRequest() {
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(new MockHttpServletRequest()));
    }

    @AfterEach
    void endRequest() {
        RequestContextHolder.resetRequestAttributes();
    }

    private static Authentication login(String password) {
        return UsernamePasswordAuthenticationToken.unauthenticated("alice", password);
    }

    /** Throws the same for every password but the right one. */
    private static AuthenticationManager throwing(Exception wrong) {
        return login -> {
            if (!isRight(login)) {
                throwUnchecked(wrong);
            }
            return user(login);
        };
    }

    private static boolean isRight(Authentication login) {
        return "right".equals(login.getCredentials());
    }

    private static Authentication user(Authentication login) {
        return UsernamePasswordAuthenticationToken.authenticated(login.getName(), null, List.of());
    }

    /** As in Kotlin, where no exception is checked. */
    @SuppressWarnings("unchecked")
    private static <E extends Exception> void throwUnchecked(Exception exception) throws E {
        throw (E) exception;
    }

    private static void with(AuthenticationManager passwords, BiConsumer<LoginLimits, AuthenticationManager> test) {
        OtherLoginsTest.application().run(context -> {
            LoginLimits logins = context.getBean(LoginLimits.class);
            test.accept(logins, logins.limited(passwords));
        });
    }

    static Stream<Named<Exception>> counted() {
        return Stream.of(
                named(new BadCredentialsException("wrong")),
                named(new LockedException("locked")),
                named(new IllegalStateException("wrong")),
                named(new javax.naming.AuthenticationException("error code 49")));
    }

    private static Named<Exception> named(Exception exception) {
        return Named.of(exception.getClass().getSimpleName(), exception);
    }

    @ParameterizedTest
    @MethodSource("counted")
    void guessesAreLimitedWhateverIsThrown(Exception wrong) {
        with(throwing(wrong), (logins, limited) -> {
            for (int i = 0; i < ALLOWED; i++) {
                assertThat(catchThrowable(() -> limited.authenticate(login("guess"))))
                        .isSameAs(wrong);
            }
            assertThatThrownBy(() -> limited.authenticate(login("right")))
                    .isInstanceOf(RateLimitExceededException.class);
        });
    }

    /** Against the contract of a manager, but within that of a provider. */
    @Test
    void guessesAreLimitedIfNothingIsReturnedForThem() {
        with(login -> isRight(login) ? user(login) : null, (logins, limited) -> {
            for (int i = 0; i < ALLOWED; i++) {
                assertThat(limited.authenticate(login("guess"))).isNull();
            }
            assertThatThrownBy(() -> limited.authenticate(login("right")))
                    .isInstanceOf(RateLimitExceededException.class);
        });
    }

    static Stream<Named<Exception>> notCounted() {
        return Stream.of(
                named(new AuthenticationServiceException("no directory")),
                named(new InternalAuthenticationServiceException("no directory")));
    }

    @ParameterizedTest
    @MethodSource("notCounted")
    void outageCountsForNobody(Exception outage) {
        with(throwing(outage), (logins, limited) -> {
            for (int i = 0; i < 5 * ALLOWED; i++) {
                assertThat(catchThrowable(() -> limited.authenticate(login("guess"))))
                        .isSameAs(outage);
            }
            assertThat(logins.peek("alice").remaining()).isEqualTo(ALLOWED);
            assertThat(limited.authenticate(login("right")).getName()).isEqualTo("alice");
        });
    }

    private static AuthenticationProvider withoutItsDatabase() {
        return new DaoAuthenticationProvider(name -> {
            throw new DataAccessResourceFailureException("no database");
        });
    }

    /** Spring Security's own providers keep to this: each failure of a database or directory is such an exception. */
    @Test
    void usersInADatabaseThatIsDownCountForNothing() {
        with(new ProviderManager(withoutItsDatabase()), (logins, limited) -> {
            for (int i = 0; i < 5 * ALLOWED; i++) {
                assertThatThrownBy(() -> limited.authenticate(login("right")))
                        .isInstanceOf(InternalAuthenticationServiceException.class);
            }
            assertThat(logins.peek("alice").remaining()).isEqualTo(ALLOWED);
        });
    }

    /** {@code ProviderManager} asks the next provider after the one exception, and not after the other. */
    @Test
    void refusalOfTheNextProviderCounts() {
        AuthenticationProvider down = provider(new AuthenticationServiceException("no directory"));
        AuthenticationProvider refusing = provider(new BadCredentialsException("wrong"));
        with(new ProviderManager(down, refusing), (logins, limited) -> {
            assertThatThrownBy(() -> limited.authenticate(login("guess"))).isInstanceOf(BadCredentialsException.class);
            assertThat(logins.peek("alice").remaining()).isEqualTo(ALLOWED - 1);
        });
        with(new ProviderManager(withoutItsDatabase(), refusing), (logins, limited) -> {
            assertThatThrownBy(() -> limited.authenticate(login("guess")))
                    .isInstanceOf(InternalAuthenticationServiceException.class);
            assertThat(logins.peek("alice").remaining()).isEqualTo(ALLOWED);
        });
    }

    private static AuthenticationProvider provider(RuntimeException failure) {
        return new AuthenticationProvider() {
            @Override
            public Authentication authenticate(Authentication login) {
                throw failure;
            }

            @Override
            public boolean supports(Class<?> type) {
                return true;
            }
        };
    }
}
