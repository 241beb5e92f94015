package dev.ratelimit.gate;

import dev.ratelimit.Subject;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.SubjectKey;
import org.jspecify.annotations.Nullable;

/**
 * The facts that only a real request knows, as they are when the gate asks: after authentication, beans and expressions must find
 * the user in it. Each web stack implements it.
 */
public interface LiveRequest {

    @Nullable
    String header(String name);

    /** The id of the session, or {@code null} if there is none. */
    @Nullable
    String sessionId();

    /** The subject that a bean or an expression gives, or {@code null}. */
    @Nullable
    Subject resolve(String rule, SubjectKey key);

    /** Whether the condition of the rule is true. */
    boolean isTrue(Rule rule);
}
