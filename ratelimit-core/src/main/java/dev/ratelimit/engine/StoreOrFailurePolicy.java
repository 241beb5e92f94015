package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.engine.local.LocalDecisions;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Puts a request to the store. If the store is unavailable, the failure policy of the request decides. */
final class StoreOrFailurePolicy {

    private final LimitStore store;
    private final boolean immediate;
    private final StoreCalls calls;
    private final LocalDecisions local;
    private final FailurePolicy usual;

    /**
     * @param usual the failure policy of requests that have none
     */
    StoreOrFailurePolicy(LimitStore store, StoreCalls calls, LocalDecisions local, FailurePolicy usual) {
        this.store = store;
        this.immediate = store.isImmediate();
        this.calls = calls;
        this.local = local;
        this.usual = usual;
    }

    /**
     * The decision on a request that was put to the store.
     *
     * @param answer {@code null} if the failure policy decided
     * @param eras if this instance decided, the debts that hold its charge; else {@code null}
     */
    record Decided(
            Decision decision,
            @Nullable Answer answer,
            @Nullable Map<StateKey, Long> eras) {}

    Decided ask(LimitRequest request, Kind kind, List<Demand> demands, long start) {
        if (demands.isEmpty()) {
            return new Decided(Decisions.NOTHING_ASKED, null, null);
        }
        Operation operation = new Operation(kind, demands);
        if (immediate) {
            return answered(request, demands, store.decide(operation));
        }
        Pending pending = new Pending(operation, null, isDecidedHereOtherwise(request, kind));
        try {
            return answered(request, demands, calls.submit(pending, start));
        } catch (UndecidedException e) {
            return unanswered(request, pending, e);
        }
    }

    /** The end of a settlement. */
    enum Settlement {
        DONE,
        /** Surely nothing was changed, so it may be tried again. */
        UNDONE,
        /** It may have been done, as a whole or in part. */
        UNKNOWN
    }

    /** The clock of the store, as far as this process knows it. */
    private long now() {
        InstantSource clock = store.clock();
        return Micros.of((clock == null ? InstantSource.system() : clock).instant());
    }

    private FailurePolicy policy(LimitRequest request) {
        return Objects.requireNonNullElse(request.onFailure(), usual);
    }

    private boolean isDecidedHereOtherwise(LimitRequest request, Kind kind) {
        return policy(request) == FailurePolicy.LOCAL && kind != Kind.RESET;
    }

    private static Decided answered(LimitRequest request, List<Demand> demands, Answer answer) {
        return new Decided(Decisions.of(request, demands, answer), answer, null);
    }

    private Decided unanswered(LimitRequest request, Pending pending, UndecidedException e) {
        if (!pending.isDecidedHereOtherwise()) {
            return new Decided(Decisions.undecided(request, policy(request), e, now()), null, null);
        }
        LocalDecisions.Granted granted = local.decide(pending);
        List<Demand> demands = pending.operation.demands();
        return granted.eras() == null
                ? answered(request, demands, granted.answer())
                : new Decided(
                        Decisions.of(request, demands, granted.answer(), e.reason()), granted.answer(), granted.eras());
    }

    CompletableFuture<Decided> askAsync(LimitRequest request, Kind kind, List<Demand> demands, long start) {
        if (immediate || demands.isEmpty()) {
            return CompletableFuture.completedFuture(ask(request, kind, demands, start));
        }
        return calls.submitAsync(new Operation(kind, demands), isDecidedHereOtherwise(request, kind), start)
                .thenApply(told -> {
                    UndecidedException undecided = told.undecided();
                    return undecided == null
                            ? answered(request, demands, told.answer())
                            : unanswered(request, told.pending(), undecided);
                });
    }

    /**
     * Settles charges of this process or of the store.
     *
     * @param eras where they were charged: see {@link Decided}
     */
    Settlement settle(List<Demand> settlements, @Nullable Map<StateKey, Long> eras) {
        List<Demand> stored = eras == null ? settlements : local.settle(settlements, eras);
        if (stored.isEmpty()) {
            return Settlement.DONE;
        }
        Operation operation = new Operation(Kind.SETTLE, stored);
        if (immediate) {
            store.decide(operation);
            return Settlement.DONE;
        }
        try {
            calls.submit(new Pending(operation), System.nanoTime());
            return Settlement.DONE;
        } catch (UndecidedException e) {
            boolean all = stored.size() == settlements.size(); // else a part was done here
            return all && e.isSurelyUndone() ? Settlement.UNDONE : Settlement.UNKNOWN;
        }
    }
}
