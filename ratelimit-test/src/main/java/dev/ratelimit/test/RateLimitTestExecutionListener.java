package dev.ratelimit.test;

import java.util.Optional;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Empties counts before each test, and prepares its caller.
 *
 * <ol>
 *   <li>Before methods such as {@code @BeforeEach}, everything is reset.
 *   <li>After them, when the user of the test is known, {@link WithApiKey}, {@link WithTier} and {@link WithRateLimit} are
 *       applied. A request of MockMvc in {@code @BeforeEach} makes Spring Security forget the user of the thread. So the one from
 *       before counts where there is none.
 * </ol>
 */
final class RateLimitTestExecutionListener extends AbstractTestExecutionListener {

    /** After the listener of Spring Security, which has 10,000. */
    private static final int AFTER_SECURITY = 10_500;

    private static final String USER = RateLimitTestExecutionListener.class.getName() + ".user";

    @Override
    public int getOrder() {
        return AFTER_SECURITY;
    }

    @Override
    public void beforeTestMethod(TestContext test) {
        test.setAttribute(USER, TestCaller.User.current());
        context(test)
                .map(context -> context.getBeanProvider(TestState.class).getIfAvailable())
                .ifPresent(state -> state.started(name(test)));
    }

    @Override
    public void beforeTestExecution(TestContext test) {
        TestCaller.User user = TestCaller.User.current().or((TestCaller.User) test.getAttribute(USER));
        context(test)
                .ifPresent(context -> new TestCaller(context, user).prepare(test.getTestMethod(), test.getTestClass()));
    }

    @Override
    public void afterTestMethod(TestContext test) {
        context(test)
                .map(context -> context.getBeanProvider(TestState.class).getIfAvailable())
                .ifPresent(state -> state.ended(name(test)));
    }

    /** Empty for a test that has no context so far: it has no limits either. */
    private static Optional<ApplicationContext> context(TestContext test) {
        return test.hasApplicationContext() ? Optional.of(test.getApplicationContext()) : Optional.empty();
    }

    /** With its thread: a test may run several times at once, with other arguments. */
    private static String name(TestContext test) {
        return test.getTestClass().getSimpleName() + "." + test.getTestMethod().getName() + " in "
                + Thread.currentThread().getName();
    }
}
