package dev.ratelimit.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a test with so much of a limit left to its caller. The caller is the user of the test (as with Spring Security's
 * {@code @WithMockUser}), else this machine by its address. It applies to rules and annotations that count by user, by
 * address, by both, or by API key; for any other key, name the {@link #subject()}. On a limit of failed logins, the user is the
 * name that logs in.
 *
 * <pre>{@code
 * @Test
 * @WithRateLimit(limit = "login", remaining = 0)
 * void saysWhenToComeBack() {}
 * }</pre>
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@Repeatable(WithRateLimit.Several.class)
public @interface WithRateLimit {

    /** The name of the limit; {@code quota} for the quota of the caller's tier. */
    String limit();

    /** How many requests the limit still allows. */
    long remaining() default 0;

    /** The user whose count it is, if it is not the user of the test: for requests over a real connection. */
    String user() default "";

    /** The address whose count it is, if it is not that of this machine. */
    String address() default "";

    /**
     * The subject whose count it is, for keys that are expressions, headers or beans: {@code key:VALUE} for the value of an
     * expression, {@code header:NAME=VALUE} for a header.
     */
    String subject() default "";

    /** Several limits of one test. */
    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Documented
    @Inherited
    @interface Several {

        WithRateLimit[] value();
    }
}
