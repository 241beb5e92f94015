package dev.ratelimit.policy;

/** Knows the policy in force, which may be replaced by another while requests are served. */
@FunctionalInterface
public interface Policies {

    /** The policy now: a request asks once, and stays with what it got. */
    Policy current();
}
