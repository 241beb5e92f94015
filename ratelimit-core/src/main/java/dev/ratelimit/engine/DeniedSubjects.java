package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.Micros;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Caches denials, and repeats them without asking the store. The answers are those that the store would give:
 *
 * <ol>
 *   <li>A limit that had no room for a single permit has none until the moment that the store has named: time alone does
 *       not free it sooner. Only such denials are remembered, of the cost of one, so that nothing remains until then. A
 *       denial by {@code min-interval} may have something remaining, and is not remembered.
 *   <li>A denial that the store counts as a violation is never remembered: of a limit with penalties, only a penalty that
 *       runs, during which requests neither count nor extend.
 *   <li>A reset, a refund, a lease that is given back and a limit with other numbers can free a subject sooner. So a limit
 *       that was reserved on in this process is not remembered from then on, and one with a lease never; a reset clears
 *       the denials of the subject; and a denial holds for the limit as it was.
 *   <li>A charge that may be given back is rarely given back. The denials of a limit are remembered for at most a second if
 *       its charges may be given back by any instance, as the rules say, or if this process has made such a charge.
 *   <li>An answer that was under way when something was cleared is not remembered: it may be from before.
 *   <li>The moment is one of the store's clock. How much of the wait has passed is measured on this machine from before
 *       the store was asked, which is too much rather than too little: nobody is denied for longer than the store would.
 * </ol>
 *
 * No denial is remembered for more than a minute, in case this process does not learn of a reset elsewhere. If there is no
 * room for another denial, it is not remembered. An answer that allows is never remembered. Thread-safe.
 */
final class DeniedSubjects {

    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long LONGEST_OF_REVOCABLE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long NANOS_PER_MICRO = 1_000;

    private final int maxSize;
    private final Predicate<String> mayBeGivenBack;
    private final LongSupplier nanoTime;
    private final ConcurrentHashMap<StateKey, Denial> denials = new ConcurrentHashMap<>();
    private final Set<String> reserved = ConcurrentHashMap.newKeySet();
    private final Set<String> revocable = ConcurrentHashMap.newKeySet();
    private final AtomicLong cleared = new AtomicLong();
    private final AtomicLong nextSweep = new AtomicLong();
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    /**
     * @param maxSize how many denials are remembered; zero for none
     * @param mayBeGivenBack whether any instance may give back charges on the limit of that name
     */
    DeniedSubjects(int maxSize, Predicate<String> mayBeGivenBack, LongSupplier nanoTime) {
        this.maxSize = maxSize;
        this.mayBeGivenBack = mayBeGivenBack;
        this.nanoTime = nanoTime;
        this.nextSweep.set(nanoTime.getAsLong());
    }

    /** The answer of one limit, and until when it holds. */
    private record Denial(
            Limit limit,
            long resetAt,
            long availableAt,
            @Nullable Instant penaltyUntil,
            long violations,
            long now,
            long answeredNanos,
            long untilNanos) {

        /** A clock that was set back since says nothing about how long it still holds. */
        boolean isOf(Limit other, long nanos) {
            return untilNanos - nanos > 0 && nanos - answeredNanos >= 0 && limit.equals(other);
        }

        /** The clock of the store, rather too early than too late, so that a denied client waits for long enough. */
        long clock(long nanos) {
            return now + (nanos - answeredNanos) / NANOS_PER_MICRO;
        }

        LimitDecision decision(LimitRequest.Item item, long clock) {
            return new LimitDecision(
                    item.subject(),
                    limit,
                    item.rule(),
                    penaltyUntil == null ? Outcome.THROTTLED : Outcome.BLOCKED,
                    0,
                    resetAt,
                    Micros.toDuration(availableAt - clock),
                    penaltyUntil,
                    violations,
                    false);
        }
    }

    /** A mark to be taken before the store is asked. */
    long mark() {
        return cleared.get();
    }

    /**
     * The denial of the request, if the store need not be asked. Of several limits it shows those that are known to deny:
     * only the store knows the answers of the rest.
     *
     * @param limits those of the request's items, in their order
     * @param nanos the time now
     */
    @Nullable
    Decision denial(LimitRequest request, List<Limit> limits, long nanos) {
        if (maxSize == 0) {
            return null;
        }
        Decision known = limits.size() == 1
                ? denialOfOne(request, limits.get(0), nanos)
                : denialOfSeveral(request, limits, nanos);
        (known == null ? misses : hits).increment();
        return known;
    }

    private @Nullable Decision denialOfOne(LimitRequest request, Limit limit, long nanos) {
        LimitRequest.Item item = request.items().get(0);
        Denial known = find(item, limit, nanos);
        if (known == null) {
            return null;
        }
        long clock = known.clock(nanos);
        return Decision.of(clock, List.of(known.decision(item, clock)), request.retryAfterFloor(), null);
    }

    private @Nullable Decision denialOfSeveral(LimitRequest request, List<Limit> limits, long nanos) {
        List<LimitRequest.Item> items = request.items();
        List<LimitDecision> decisions = new ArrayList<>(items.size());
        long latest = 0;
        boolean mayViolate = false;
        for (int i = 0; i < items.size(); i++) {
            Denial known = find(items.get(i), limits.get(i), nanos);
            if (known == null) {
                mayViolate |= !limits.get(i).penalties().isEmpty();
                continue;
            }
            long clock = known.clock(nanos);
            latest = Math.max(latest, clock);
            decisions.add(known.decision(items.get(i), clock));
        }
        if (decisions.isEmpty()) {
            return null;
        }
        Decision decision = Decision.of(latest, decisions, request.retryAfterFloor(), null);
        // Without a penalty, a limit that is not remembered might count this as a violation.
        return mayViolate && decision.outcome() != Outcome.BLOCKED ? null : decision;
    }

    private @Nullable Denial find(LimitRequest.Item item, Limit limit, long nanos) {
        Long cost = item.cost();
        if ((cost != null ? cost : limit.cost()) != 1) {
            return null;
        }
        StateKey key = StateKey.of(item.subject(), limit.name());
        Denial known = denials.get(key);
        if (known == null) {
            return null;
        }
        if (known.isOf(limit, nanos)) {
            return known;
        }
        denials.remove(key, known);
        return null;
    }

    /**
     * Remembers what denied a request.
     *
     * @param mark the value of {@link #mark()} before the store was asked
     * @param askedNanos when the store was asked
     */
    void remember(List<Demand> demands, Answer answer, long mark, long askedNanos) {
        if (maxSize == 0) {
            return;
        }
        long nanos = nanoTime.getAsLong();
        for (int i = 0; i < demands.size(); i++) {
            Demand demand = demands.get(i);
            Verdict verdict = answer.verdicts().get(i);
            if (!verdict.allowed() && staysDenied(demand, verdict)) {
                remember(demand, verdict, answer.now(), mark, askedNanos, nanos);
            }
        }
    }

    private boolean staysDenied(Demand demand, Verdict verdict) {
        return demand.cost() == 1
                && verdict.remaining() == 0
                && (verdict.penaltyUntil() > 0
                        || (demand.limit().penalties().isEmpty()
                                && !demand.limit().hasMinInterval()))
                && demand.limit().lease().isNone()
                && !reserved.contains(demand.limit().name());
    }

    private void remember(Demand demand, Verdict verdict, long now, long mark, long askedNanos, long nanos) {
        long until = verdict.penaltyUntil() > 0 ? verdict.penaltyUntil() : verdict.availableAt();
        String limit = demand.limit().name();
        boolean freedEarly = mayBeGivenBack.test(limit) || revocable.contains(limit);
        long longest = freedEarly ? LONGEST_OF_REVOCABLE_NANOS : LONGEST_NANOS;
        long wait = Math.min(longest / NANOS_PER_MICRO, until - now) * NANOS_PER_MICRO;
        if (askedNanos + wait - nanos <= 0 || !hasRoom(nanos)) {
            return;
        }
        StateKey key = demand.key();
        Denial denial = new Denial(
                demand.limit(),
                verdict.resetAt(),
                verdict.availableAt(),
                verdict.penaltyUntil() == 0 ? null : Micros.toInstant(verdict.penaltyUntil()),
                verdict.violations(),
                now,
                nanos,
                askedNanos + wait);
        denials.put(key, denial);
        if (cleared.get() != mark) {
            denials.remove(key, denial);
        }
    }

    private boolean hasRoom(long nanos) {
        if (denials.mappingCount() < maxSize) {
            return true;
        }
        long next = nextSweep.get();
        if (nanos - next >= 0 && nextSweep.compareAndSet(next, nanos + SWEEP_NANOS)) {
            denials.values().removeIf(denial -> denial.untilNanos() - nanos <= 0);
        }
        return denials.mappingCount() < maxSize;
    }

    /** A charge on the limits may be taken back: what denies now may be free sooner. */
    void reserving(List<Demand> demands) {
        for (Demand demand : demands) {
            if (reserved.add(demand.limit().name())) {
                clear();
            }
        }
    }

    /** A charge on the limits may be given back: a denial holds for no longer than a second from then on. */
    void charging(List<Demand> demands) {
        for (Demand demand : demands) {
            if (!revocable.contains(demand.limit().name())
                    && revocable.add(demand.limit().name())) {
                clear();
            }
        }
    }

    void clear(StateKey key) {
        cleared.incrementAndGet();
        denials.remove(key);
    }

    void clear(Subject subject) {
        cleared.incrementAndGet();
        denials.keySet().removeIf(key -> key.subject().equals(subject.text()));
    }

    void clear() {
        cleared.incrementAndGet();
        denials.clear();
    }

    EngineStatus.Cache status() {
        return new EngineStatus.Cache(hits.sum(), misses.sum(), denials.mappingCount());
    }
}
