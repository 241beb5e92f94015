package dev.ratelimit.engine;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Reservation;
import dev.ratelimit.engine.StoreOrFailurePolicy.Decided;
import dev.ratelimit.engine.StoreOrFailurePolicy.Settlement;
import dev.ratelimit.engine.lease.Leases;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Makes charges that can be settled or given back, and settles them. */
final class Charges {

    private final LimitResolution resolution;
    private final StoreOrFailurePolicy asking;
    private final LocalMemory memory;
    private final MemoryOrStore deciding;
    private final Trials trials;

    Charges(
            LimitResolution resolution,
            StoreOrFailurePolicy asking,
            LocalMemory memory,
            MemoryOrStore deciding,
            Trials trials) {
        this.resolution = resolution;
        this.asking = asking;
        this.memory = memory;
        this.deciding = deciding;
        this.trials = trials;
    }

    /** Decides without the store: by a remembered denial, or a permit of a lease; {@code null} if neither is there. */
    @Nullable
    Charged withoutStore(LimitRequest request, List<Limit> limits, List<Demand> demands, long start) {
        Charged denial = repeatedDenial(request, limits, demands);
        if (denial != null) {
            return denial;
        }
        Leases.Served served = deciding.serve(demands, start);
        return served == null ? null : leased(request, limits, demands.get(0), served);
    }

    /** Decides without waiting for anybody: as {@link #withoutStore}, else by the store. */
    CompletableFuture<Charged> chargeAsync(LimitRequest request, List<Limit> limits, List<Demand> demands, long start) {
        Charged denial = repeatedDenial(request, limits, demands);
        return denial != null
                ? CompletableFuture.completedFuture(denial)
                : deciding.serveAsync(demands, start)
                        .thenCompose(served -> served != null
                                ? CompletableFuture.completedFuture(leased(request, limits, demands.get(0), served))
                                : deciding.askAsync(request, demands, start)
                                        .thenApply(decided -> reservation(request, limits, demands, decided)));
    }

    private @Nullable Charged repeatedDenial(LimitRequest request, List<Limit> limits, List<Demand> demands) {
        Decision known = deciding.repeatedDenial(request, limits);
        return known == null ? null : reservation(request, limits, demands, new Decided(known, null, null));
    }

    private Charged leased(LimitRequest request, List<Limit> limits, Demand demand, Leases.Served served) {
        return new LeasedCharge(
                Decisions.of(request, demand, served),
                () -> memory.leases.putBack(demand, served),
                trials.decide(request, limits));
    }

    /** The charge of a request that was asked, to be settled later. */
    Reservation reservation(LimitRequest request, List<Limit> limits, List<Demand> demands, Decided decided) {
        Answer answer = decided.answer();
        return new StoreReservation(
                this,
                decided.decision(),
                demands,
                answer == null ? List.of() : answer.verdicts(),
                decided.eras(),
                trials.decide(request, limits));
    }

    /**
     * Settles charges of this process or of the store.
     *
     * @param eras where they were charged: see {@link Decided}
     */
    Settlement settle(List<Demand> settlements, @Nullable Map<StateKey, Long> eras) {
        return asking.settle(settlements, eras);
    }

    /** A charge was given back: a denial of the subject no longer holds. */
    void freed(StateKey key) {
        memory.denials.clear(key);
    }

    boolean isCurrent(Limit limit) {
        return resolution.isCurrent(limit);
    }
}
