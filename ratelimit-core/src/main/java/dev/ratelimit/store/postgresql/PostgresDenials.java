package dev.ratelimit.store.postgresql;

import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which keys had no room when they were last decided, and until when: the admission statement would most likely
 * leave them alone. A key that is wrongly in or not in here costs time, nothing else. Safe for use by many threads.
 */
final class PostgresDenials {

    /**
     * A key that had no room.
     *
     * @param hash that of the key
     * @param until the first moment with room, absent other traffic
     * @param blocked whether a penalty is the reason
     */
    record Denial(int hash, long until, boolean blocked) {}

    private static final int REMEMBERED = 1 << 12;

    private final AtomicReferenceArray<@Nullable Denial> byHash = new AtomicReferenceArray<>(REMEMBERED);

    /** The denial that is expected for the key at that moment. */
    @Nullable
    Denial expected(StateKey key, long now) {
        int hash = key.hashCode();
        Denial denial = byHash.get(place(hash));
        return denial != null && denial.hash() == hash && denial.until() > now ? denial : null;
    }

    void observe(List<Operation> group, List<Answer> answers) {
        for (int i = 0; i < group.size(); i++) {
            List<Operation.Demand> demands = group.get(i).demands();
            for (int d = 0; d < demands.size(); d++) {
                observe(demands.get(d).key(), answers.get(i).verdicts().get(d));
            }
        }
    }

    private void observe(StateKey key, Verdict verdict) {
        int hash = key.hashCode();
        int place = place(hash);
        if (!verdict.allowed()) {
            byHash.set(place, new Denial(hash, verdict.availableAt(), verdict.penaltyUntil() > 0));
        } else {
            Denial denial = byHash.get(place);
            if (denial != null && denial.hash() == hash) {
                byHash.compareAndSet(place, denial, null);
            }
        }
    }

    private static int place(int hash) {
        return (hash ^ hash >>> 16) & (REMEMBERED - 1);
    }
}
