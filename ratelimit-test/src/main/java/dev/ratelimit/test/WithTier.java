package dev.ratelimit.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a test with a user of that tier. Put it beside {@code @WithMockUser}, or name the user.
 *
 * <pre>{@code
 * @Test
 * @WithMockUser("alice")
 * @WithTier("premium")
 * void premiumUsersMayUploadMore() {}
 * }</pre>
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
public @interface WithTier {

    /** The name of the tier. */
    String value();

    /** The user, if it is not the user of the test: for requests over a real connection. */
    String user() default "";
}
