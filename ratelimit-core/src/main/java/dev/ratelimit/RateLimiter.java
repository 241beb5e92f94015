package dev.ratelimit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether requests may pass. Safe for use by many threads.
 *
 * <p>No method fails because the store fails. The failure policy of the request applies then, and the decision says so.
 * Mistakes of the caller throw an exception: an unknown limit, or a cost that the limit can never grant.
 */
public interface RateLimiter {

    /** Decides, and charges every limit of the request, or none. */
    Decision decide(LimitRequest request);

    /**
     * Decides without blocking the caller. The stage completes within the deadline, on a thread that may be blocked, and never
     * exceptionally because of the store. Cancelling it does not take the charge back.
     */
    default CompletionStage<Decision> decideAsync(LimitRequest request) {
        return CompletableFuture.supplyAsync(() -> decide(request));
    }

    /** Decides on the limit of that name. */
    default Decision decide(Subject subject, String limitName) {
        return decide(LimitRequest.of(subject, limitName));
    }

    /** Decides on a limit that is given for this call. */
    default Decision decide(Subject subject, Limit limit) {
        return decide(LimitRequest.of(subject, limit));
    }

    /** The present answer of {@link #decide(LimitRequest)}; charges nothing and counts no violation. */
    Decision peek(LimitRequest request);

    /** {@link #peek(LimitRequest)} without blocking the caller: see {@link #decideAsync}. */
    default CompletionStage<Decision> peekAsync(LimitRequest request) {
        return CompletableFuture.supplyAsync(() -> peek(request));
    }

    /** The present answer of {@link #decide(Subject, String)}; charges nothing and counts no violation. */
    default Decision peek(Subject subject, String limitName) {
        return peek(LimitRequest.of(subject, limitName));
    }

    /** Decides and charges now; the real cost is settled later. */
    Reservation reserve(LimitRequest request);

    /**
     * Decides as {@link #decide} does, for a charge that may have to be given back: see {@link Charged#giveBack()}. Unlike
     * {@link #reserve}, it uses leases, and denials that this instance remembers; the latter for at most a second. The charge is
     * kept, or given back whole.
     */
    default Charged charge(LimitRequest request) {
        return reserve(request);
    }

    /** {@link #charge(LimitRequest)} without blocking the caller: see {@link #decideAsync}. */
    default CompletionStage<Charged> chargeAsync(LimitRequest request) {
        return CompletableFuture.supplyAsync(() -> charge(request));
    }

    /** The denial of the request that this instance knows without waiting for a store, or {@code null}. */
    default @Nullable Decision remembered(LimitRequest request) {
        return null;
    }

    /** {@link #reserve(LimitRequest)} without blocking the caller: see {@link #decideAsync}. */
    default CompletionStage<Reservation> reserveAsync(LimitRequest request) {
        return CompletableFuture.supplyAsync(() -> reserve(request));
    }

    /** Decides and charges now; the real cost is settled later. */
    default Reservation reserve(Subject subject, String limitName) {
        return reserve(LimitRequest.of(subject, limitName));
    }

    /**
     * Forgets all that the limits of the request know of their subjects: counts, violations and penalties.
     *
     * @return whether it was done; {@code false} if the store failed
     */
    boolean reset(LimitRequest request);

    /** Forgets all that the limit knows of the subject: count, violations and penalty. */
    default boolean reset(Subject subject, String limitName) {
        return reset(LimitRequest.of(subject, limitName));
    }
}
