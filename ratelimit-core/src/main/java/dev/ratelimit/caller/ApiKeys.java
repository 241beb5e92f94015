package dev.ratelimit.caller;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.Algorithms;
import org.jspecify.annotations.Nullable;

/** Recognises API keys. Answers from memory: it never waits for a database. Safe for use by many threads. */
@FunctionalInterface
public interface ApiKeys {

    /**
     * Recognises a key and counts its use.
     *
     * @param secret the key as the client sent it
     * @return the key, or {@code null} if it is unknown, has expired or was revoked
     */
    @Nullable
    ApiKey recognise(String secret);

    /**
     * The limit of an address on keys that are not recognised.
     *
     * @param perMinute how many it may try in a minute
     */
    static Limit guessing(String name, long perMinute) {
        return Limit.named(name)
                .algorithm(Algorithms.burst(perMinute, Rate.perMinute(perMinute)))
                .build();
    }
}
