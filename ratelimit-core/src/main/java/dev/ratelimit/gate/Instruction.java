package dev.ratelimit.gate;

import dev.ratelimit.LimitRequest;
import java.time.Duration;

/** The next thing that an adapter does. */
public sealed interface Instruction {

    /**
     * Ask the limiter, and tell the visit the answer.
     *
     * @param revocable whether the charge may have to be given back
     */
    record Ask(LimitRequest limits, boolean revocable) implements Instruction {}

    /**
     * Let the request go on.
     *
     * @param delay how long it has to wait for its turn first; mostly zero
     */
    record Pass(Duration delay) implements Instruction {

        static final Pass AT_ONCE = new Pass(Duration.ZERO);
    }

    /**
     * Answer the request.
     *
     * @param giveBack whether to give back the revocable charge of this visit
     */
    record Reject(Rejection rejection, boolean giveBack) implements Instruction {}
}
