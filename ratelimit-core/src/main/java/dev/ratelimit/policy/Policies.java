package dev.ratelimit.policy;

/** Knows the policy in force, which may be replaced by another while requests are served. */
@FunctionalInterface
public interface Policies {

    /** The policy now. A request asks once, and keeps the policy it got. */
    Policy current();
}
