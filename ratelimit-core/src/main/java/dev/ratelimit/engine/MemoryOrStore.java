package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.engine.StoreOrFailurePolicy.Decided;
import dev.ratelimit.engine.lease.Leases;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Decides by a remembered denial or a lease; otherwise it asks the store, and remembers the answer. */
final class MemoryOrStore {

    private final LocalMemory memory;
    private final StoreCalls calls;
    private final StoreOrFailurePolicy asking;
    private final boolean repeatsDenials;
    private final LongSupplier nanoTime;

    MemoryOrStore(
            LocalMemory memory,
            StoreCalls calls,
            StoreOrFailurePolicy asking,
            boolean repeatsDenials,
            LongSupplier nanoTime) {
        this.memory = memory;
        this.calls = calls;
        this.asking = asking;
        this.repeatsDenials = repeatsDenials;
        this.nanoTime = nanoTime;
    }

    /** The denial that is remembered, if denials are repeated; else {@code null}. */
    @Nullable
    Decision repeatedDenial(LimitRequest request, List<Limit> limits) {
        return repeatsDenials ? denial(request, limits) : null;
    }

    /** The denial that is remembered, or {@code null}. */
    @Nullable
    Decision denial(LimitRequest request, List<Limit> limits) {
        return memory.denials.denial(request, limits, nanoTime.getAsLong());
    }

    /** Serves the request from a lease; {@code null} if the store is to be asked. */
    Leases.@Nullable Served serve(List<Demand> demands, long start) {
        return isLeased(demands) ? memory.leases.serve(demands.get(0), calls.deadline(start)) : null;
    }

    private static boolean isLeased(List<Demand> demands) {
        return demands.size() == 1 && !demands.get(0).limit().lease().isNone();
    }

    /** Decides by a lease or the store. */
    Decision decide(LimitRequest request, List<Demand> demands, long start) {
        Leases.Served served = serve(demands, start);
        return served != null
                ? Decisions.of(request, demands.get(0), served)
                : ask(request, demands, start).decision();
    }

    /** Asks the store. */
    Decided ask(LimitRequest request, List<Demand> demands, long start) {
        return new Question(demands).remembering(asking.ask(request, Kind.DECIDE, demands, start));
    }

    /** {@link #serve} without waiting for anybody. */
    CompletableFuture<Leases.@Nullable Served> serveAsync(List<Demand> demands, long start) {
        return isLeased(demands)
                ? calls.offTheWorkers(memory.leases.serveLater(demands.get(0)), start)
                : CompletableFuture.completedFuture(null);
    }

    /** {@link #decide} without waiting for anybody. */
    CompletableFuture<Decision> decideAsync(LimitRequest request, List<Demand> demands, long start) {
        return serveAsync(demands, start)
                .thenCompose(served -> served != null
                        ? CompletableFuture.completedFuture(Decisions.of(request, demands.get(0), served))
                        : askAsync(request, demands, start).thenApply(Decided::decision));
    }

    /** {@link #ask} without waiting for anybody. */
    CompletableFuture<Decided> askAsync(LimitRequest request, List<Demand> demands, long start) {
        Question question = new Question(demands);
        return asking.askAsync(request, Kind.DECIDE, demands, start).thenApply(question::remembering);
    }

    /** A request that goes to the store, with the moment before: an answer from before a reset must not be remembered. */
    private final class Question {

        private final List<Demand> demands;
        private final long mark = memory.denials.mark();
        private final long askedNanos = nanoTime.getAsLong();

        Question(List<Demand> demands) {
            this.demands = demands;
        }

        /** Only answers of the store are remembered. */
        Decided remembering(Decided decided) {
            Answer answer = decided.answer();
            if (answer != null && decided.eras() == null) {
                if (isLeased(demands)) {
                    memory.leases.observe(demands.get(0), answer.first());
                }
                if (!answer.allowed()) {
                    memory.denials.remember(demands, answer, mark, askedNanos);
                }
            }
            return decided;
        }
    }
}
