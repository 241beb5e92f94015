package dev.ratelimit.engine;

import java.time.Duration;

/** Is told when the store stops deciding and when it decides again. It runs on the thread of a request and must not block. */
public interface StoreListener {

    /** Requests are left to their failure policy from now on. */
    void storeLost(String reason);

    /** The store decides again. */
    void storeRegained(Duration unavailableFor);
}
