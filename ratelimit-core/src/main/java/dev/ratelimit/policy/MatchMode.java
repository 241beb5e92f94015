package dev.ratelimit.policy;

/** Which of the throttling rules that match a request apply to it. */
public enum MatchMode {

    /** All of them, together. */
    ALL,

    /** The one of highest priority. */
    FIRST
}
