package dev.ratelimit.policy;

import dev.ratelimit.support.Keyword;

/** The effect of a rule on a request that it matches. */
public enum Action {

    /** Its limits decide. */
    THROTTLE,

    /** The request is denied; no further rule is evaluated. */
    BLOCK,

    /** The request passes as far as rules go; no further rule is evaluated. */
    ALLOW,

    /** Its limits decide, count and report, on counts of their own, and the request passes whatever they say. */
    SHADOW;

    /** Whether it decides by limits. */
    public boolean hasLimits() {
        return this == THROTTLE || this == SHADOW;
    }

    /** As it is written in configuration. */
    public String keyword() {
        return Keyword.of(this);
    }
}
