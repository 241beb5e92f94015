package dev.ratelimit.web;

/** A bean that has learned something from earlier requests, which counts do not hold. */
public interface LearnedFromRequests {

    /** Forgets it. For tests that share an application context, whose counts are emptied as well. */
    void forget();
}
