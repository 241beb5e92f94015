package dev.ratelimit.policy;

/** Knows the policy in force, which may be replaced by another while requests are served. */
@FunctionalInterface
public interface Policies {

    /** The policy now. A request asks once, and keeps the policy it got. */
    Policy current();

    /** Whether the policy is known as a whole. While stored limits and rules cannot be read, only the configured ones are. */
    default boolean isComplete() {
        return true;
    }
}
