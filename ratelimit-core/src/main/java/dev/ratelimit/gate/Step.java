package dev.ratelimit.gate;

import dev.ratelimit.LimitRequest;
import java.time.Duration;

/** The next task of an adapter. */
public sealed interface Step {

    /**
     * Ask the limiter, and tell the visit the answer.
     *
     * @param revocable whether the charge may have to be given back
     */
    record Ask(LimitRequest limits, boolean revocable) implements Step {}

    /**
     * Let the request go on.
     *
     * @param delay how long it has to wait for its turn first; mostly zero
     */
    record Pass(Duration delay) implements Step {

        static final Pass AT_ONCE = new Pass(Duration.ZERO);
    }

    /**
     * Answer the request.
     *
     * @param giveBack whether to give back the revocable charge of this visit
     */
    record Reject(Rejection rejection, boolean giveBack) implements Step {}
}
