package dev.ratelimit.engine.lease;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.queue.WorkQueue;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Takes leases from the store, and gives them back. Thread-safe. */
final class LeaseCalls {

    private final WorkQueue store;
    private final Predicate<Limit> isCurrent;
    private final Duration deadline;

    /**
     * @param isCurrent whether a limit is still what its name stands for
     * @param deadline how long the store may take for an answer
     */
    LeaseCalls(WorkQueue store, Predicate<Limit> isCurrent, Duration deadline) {
        this.store = store;
        this.isCurrent = isCurrent;
        this.deadline = deadline;
    }

    boolean isCurrent(Limit limit) {
        return isCurrent.test(limit);
    }

    /** When a call that begins now has taken too long, in the time of {@link System#nanoTime()}. */
    long deadline() {
        return System.nanoTime() + deadline.toNanos();
    }

    /** Charges so many permits at once. */
    CompletableFuture<Answer> take(Demand demand, long permits) {
        return store.ask(new Operation(Kind.DECIDE, List.of(new Demand(demand.subject(), demand.limit(), permits))));
    }

    /** Gives back the unserved permits. If that fails they stay charged, which is the safe side. */
    CompletableFuture<Answer> giveBack(Subject subject, HeldLease lease) {
        if (!isCurrent(lease.limit())) {
            return CompletableFuture.completedFuture(null);
        }
        long served = lease.charge().cost() - lease.left();
        return store.ask(
                new Operation(Kind.SETTLE, List.of(new Demand(subject, lease.limit(), served, lease.charge()))));
    }

    /** Gives back a lease that nobody waits for any more. */
    void giveBackAll(Demand demand, Answer late, long askedNanos) {
        if (late.allowed()) {
            var unused =
                    giveBack(demand.subject(), new HeldLease(demand.limit(), late.first(), late.now(), askedNanos));
        }
    }

    /** The answer; {@code null} if there is none, or none in time. An interrupt does not end the wait. */
    static @Nullable Answer await(CompletableFuture<Answer> asked, long until) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return asked.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException | TimeoutException e) {
                    return null;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for all; {@code false} if some are not answered in time. */
    boolean areAnswered(List<CompletableFuture<Answer>> underWay) {
        long until = deadline();
        for (CompletableFuture<Answer> one : underWay) {
            var unused = await(one, until);
        }
        return underWay.stream().allMatch(CompletableFuture::isDone);
    }
}
