package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitLoginAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitWebAutoConfiguration;
import dev.ratelimit.login.LoginLimits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** Logins with something else than a password, such as a code from an application of the phone. */
class OtherLoginsTest {

    private final WebApplicationContextRunner application = application();

    /** Allows two failures. */
    static WebApplicationContextRunner application() {
        return new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class,
                        RateLimitPolicyAutoConfiguration.class,
                        RateLimitWebAutoConfiguration.class,
                        RateLimitLoginAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.store.type=memory",
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.login.algorithm=fixed-window",
                        "ratelimit.limits.login.max-requests=2",
                        "ratelimit.limits.login.window=3660d",
                        "ratelimit.login.limit=login");
    }

    @BeforeEach
    void beginRequest() {
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(new MockHttpServletRequest()));
    }

    @AfterEach
    void endRequest() {
        RequestContextHolder.resetRequestAttributes();
    }

    private static Authentication check(Authentication login) {
        if (!"123456".equals(login.getCredentials())) {
            throw new BadCredentialsException("wrong code");
        }
        return new TestingAuthenticationToken(login.getName(), null, "USER");
    }

    private static Authentication code(String name, String code) {
        return new TestingAuthenticationToken(name, code);
    }

    @Test
    void managerThatIsWrappedIsLimitedForEveryToken() {
        application.run(context -> {
            AuthenticationManager codes = context.getBean(LoginLimits.class).limited(OtherLoginsTest::check);
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> codes.authenticate(code("alice", "000000")))
                        .isInstanceOf(BadCredentialsException.class);
            }

            assertThatThrownBy(() -> codes.authenticate(code("alice", "123456")))
                    .isInstanceOf(RateLimitExceededException.class);
            assertThat(codes.authenticate(code("bob", "123456")).getName()).isEqualTo("bob");
        });
    }

    @Test
    void lookAtLimitsThatAreSwitchedOffDeniesNobody() {
        application.run(context -> assertThat(
                        context.getBean(LoginLimits.class).peek("alice").limits())
                .hasSize(3));
        application.withPropertyValues("ratelimit.limits.login.enabled=false").run(context -> {
            Decision look = context.getBean(LoginLimits.class).peek("alice");
            assertThat(look.allowed()).isTrue();
            assertThat(look.limits()).isEmpty();
        });
    }

    /** Guesses at the same moment use the limit by name up. The limiter does not record a look, and no filter is there. */
    @Test
    void denialOfACorrectLoginReachesTheListeners() {
        List<RequestRecord> records = new CopyOnWriteArrayList<>();
        application
                .withPropertyValues("ratelimit.login.name-limit=login")
                .withBean(DecisionListener.class, () -> listener(records))
                .run(context -> {
                    LoginLimits limits = context.getBean(LoginLimits.class);
                    AuthenticationManager codes = limits.limited(login -> {
                        CompletableFuture.runAsync(() -> guess(limits, 2)).join();
                        return check(login);
                    });

                    assertThatThrownBy(() -> codes.authenticate(code("alice", "123456")))
                            .isInstanceOf(RateLimitExceededException.class);
                });

        assertThat(records).extracting(RequestRecord::outcome).endsWith(Outcome.ALLOWED, Outcome.THROTTLED);
        assertThat(records).hasSize(3);
        assertThat(records.get(2).exchange()).isNull();
    }

    private static DecisionListener listener(List<RequestRecord> records) {
        return new DecisionListener() {
            @Override
            public void recorded(RequestRecord request) {
                records.add(request);
            }
        };
    }

    private static void guess(LoginLimits limits, int times) {
        AuthenticationManager codes = limits.limited(OtherLoginsTest::check);
        for (int i = 0; i < times; i++) {
            assertThatThrownBy(() -> codes.authenticate(code("alice", "000000")))
                    .isInstanceOf(BadCredentialsException.class);
        }
    }

    /** Clients whose token has expired may try it often; that must not keep their address from logging in. */
    @Test
    void tokensOfAManagerThatIsABeanPass() {
        application
                .withBean(AuthenticationManager.class, () -> OtherLoginsTest::check)
                .run(context -> {
                    AuthenticationManager codes = context.getBean(AuthenticationManager.class);
                    for (int i = 0; i < 5; i++) {
                        assertThatThrownBy(() -> codes.authenticate(code("alice", "000000")))
                                .isInstanceOf(BadCredentialsException.class);
                    }
                });
    }
}
