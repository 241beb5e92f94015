package dev.ratelimit.annotation;

import dev.ratelimit.FailurePolicy;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Puts a limit on a method, or on all methods of a class that have none of their own. A call that the limit denies
 * throws {@link dev.ratelimit.RateLimitExceededException}, which a web request turns into 429. Several of them are
 * decided all-or-nothing.
 *
 * <p>The expressions are of the Spring Expression Language. They can use the arguments by name ({@code #form}), beans
 * ({@code @tenants}), and in a web request {@code #request}, {@code #principal} and
 * {@code #client}, the client's address.
 *
 * <p>A mistake stops the application at startup: a limit that does not exist, an expression that is malformed or uses an
 * unknown name, a cost that the limit can never grant, a method or class that is final, private or static.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Repeatable(RateLimited.Several.class)
public @interface RateLimited {

    /** The name of the limit. */
    @AliasFor("limit")
    String value() default "";

    /** The name of the limit. */
    @AliasFor("value")
    String limit() default "";

    /**
     * The subject: a key as in rules ({@code user}, {@code ip}, {@code user+ip}, {@code session}, {@code api-key},
     * {@code header:NAME}, {@code bean:NAME}), or an expression for a text or a {@link dev.ratelimit.Subject}. By default the
     * user, else the client's address. A value that is null or blank counts by the address.
     */
    String key() default "";

    /**
     * An expression for the cost of the call. By default the cost of the limit. A call that costs 0 passes without asking
     * the limit. If the cost is below 0 or the expression fails, the call has the cost of the limit. If it is above the most that the
     * limit can ever grant, the call takes all of that. Either is logged, once a minute at most. A constant outside of 1 to that most
     * stops the application at startup.
     */
    String cost() default "";

    /**
     * An expression for whether the call counts, evaluated afterwards; it can also use {@code #result},
     * {@code #exception} and, in a web request, {@code #status}. The call is charged before it is made, so that parallel
     * calls cannot slip through. The charge is refunded if it does not count. A method that returns a
     * {@link java.util.concurrent.CompletionStage} or a {@link java.util.concurrent.Callable} is done when that is.
     */
    String countWhen() default "";

    /**
     * An expression for whether the call resets the limit for its subject, including count and penalties. It is evaluated
     * when {@code countWhen} is, with the same variables; for example {@code #status == 200} for a successful login.
     */
    String resetWhen() default "";

    /**
     * The failure policy for when the store is unavailable; by default {@code ratelimit.on-failure}. Of several annotations on one
     * call, the strictest applies: closed, then local, then open.
     */
    FailurePolicy[] onFailure() default {};

    @Documented
    @Inherited
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
    @interface Several {
        RateLimited[] value();
    }
}
