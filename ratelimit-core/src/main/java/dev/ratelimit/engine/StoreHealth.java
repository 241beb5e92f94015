package dev.ratelimit.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says in the log when decisions can no longer be had and when they can again: one line for each change. */
final class StoreHealth {

    private static final Logger log = LoggerFactory.getLogger(StoreHealth.class);

    private final AtomicBoolean failing = new AtomicBoolean();

    void decided() {
        if (failing.get() && failing.compareAndSet(true, false)) {
            log.info("Rate limits are decided again");
        }
    }

    void undecided(UndecidedException e) {
        if (failing.compareAndSet(false, true)) {
            log.warn(
                    "Rate limits cannot be decided, the failure policy of each request applies: {}",
                    e.getMessage(),
                    e.getCause());
        }
    }
}
