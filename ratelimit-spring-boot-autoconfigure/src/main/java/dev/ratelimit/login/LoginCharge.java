package dev.ratelimit.login;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Reservation;
import java.time.Duration;

/**
 * The charge of a login, or its denial.
 *
 * @param tookNanos how long the decision took
 */
record LoginCharge(LimitRequest request, Reservation reservation, long tookNanos) {

    Decision decision() {
        return reservation.decision();
    }

    Duration took() {
        return Duration.ofNanos(tookNanos);
    }

    /** As if the login had never come. If the store fails, the charge stays: the safe side. */
    void giveBack() {
        boolean unused = reservation.giveBack();
    }

    /** Waits for the turn of the login, if a limit is a leaky bucket with {@code max-wait}. */
    void awaitTurn() {
        try {
            decision().awaitTurn();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a login waited for its turn", e);
        }
    }
}
