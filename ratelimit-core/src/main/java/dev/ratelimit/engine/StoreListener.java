package dev.ratelimit.engine;

import java.time.Duration;

/** Is told when the store stops deciding and when it decides again. It runs on the thread of a request and must not block. */
public interface StoreListener {

    /** Requests are left to their failure policy from now on; if the store has parts, those that need the failed one. */
    void storeLost(String reason);

    /** The store decides again, in all its parts. */
    void storeRegained(Duration unavailableFor);
}
