package dev.ratelimit.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a test with an API key. Every request that brings none of its own gets it, as if the client had sent it: with
 * {@code MockMvc} as well as over a real connection. Needs {@code ratelimit.api-keys.enabled=true}.
 *
 * <pre>{@code
 * @Test
 * @WithApiKey(owner = "alice", tier = "premium")
 * void partnersMayUploadMore() {}
 * }</pre>
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
public @interface WithApiKey {

    /** The user who owns the key. */
    String owner() default "user";

    /** The tier of the key; by default that of its owner. */
    String tier() default "";

    /** The name of the key, which rules may refer to. */
    String name() default "test";
}
