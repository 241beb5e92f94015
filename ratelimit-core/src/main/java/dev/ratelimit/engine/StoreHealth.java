package dev.ratelimit.engine;

import dev.ratelimit.Outcome;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says in the log when decisions can no longer be had and when they can again: one line for each change. */
final class StoreHealth {

    private static final Logger log = LoggerFactory.getLogger(StoreHealth.class);

    private final AtomicReference<Outcome> state = new AtomicReference<>(Outcome.ALLOWED);

    void decided() {
        if (state.get() != Outcome.ALLOWED && state.getAndSet(Outcome.ALLOWED) != Outcome.ALLOWED) {
            log.info("Rate limits are decided again");
        }
    }

    void undecided(UndecidedException e) {
        if (state.getAndSet(e.outcome()) != e.outcome()) {
            log.warn(
                    "Rate limits cannot be decided, the failure policy of each request applies: {}",
                    e.getMessage(),
                    e.getCause());
        }
    }
}
