package dev.ratelimit.store.move;

import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The stricter one of two answers to the same operation, on the clock of the current store. */
final class Stricter {

    /** The larger verdict is the stricter one. Outcomes are in the order allowed, throttled, blocked. */
    private static final Comparator<Verdict> BY_STRICTNESS = Comparator.comparing(Verdict::outcome)
            .thenComparing(Comparator.comparingLong(Verdict::remaining).reversed())
            .thenComparingLong(Verdict::availableAt)
            .thenComparingLong(Verdict::resetAt);

    private Stricter() {}

    static Answer of(Answer previous, Answer current) {
        long ahead = current.now() - previous.now();
        List<Verdict> verdicts = new ArrayList<>(current.verdicts().size());
        for (int i = 0; i < current.verdicts().size(); i++) {
            verdicts.add(of(
                    later(previous.verdicts().get(i), ahead), current.verdicts().get(i)));
        }
        return new Answer(current.now(), verdicts);
    }

    /** The verdict on a clock that is ahead by so many microseconds. */
    private static Verdict later(Verdict verdict, long ahead) {
        return new Verdict(
                        verdict.outcome(),
                        verdict.remaining(),
                        verdict.resetAt() + ahead,
                        verdict.availableAt() + ahead,
                        verdict.delay(),
                        verdict.penaltyUntil() == 0 ? 0 : verdict.penaltyUntil() + ahead,
                        new Charge(verdict.at() + ahead, verdict.cost(), verdict.tokens()))
                .counted(verdict.violations());
    }

    /** The charge and the level are those of the stricter store. No time is earlier than in the other one. */
    private static Verdict of(Verdict previous, Verdict current) {
        Verdict stricter = BY_STRICTNESS.compare(previous, current) > 0 ? previous : current;
        return new Verdict(
                        stricter.outcome(),
                        Math.min(previous.remaining(), current.remaining()),
                        Math.max(previous.resetAt(), current.resetAt()),
                        Math.max(previous.availableAt(), current.availableAt()),
                        Math.max(previous.delay(), current.delay()),
                        Math.max(previous.penaltyUntil(), current.penaltyUntil()),
                        stricter.charge())
                .counted(stricter.violations());
    }
}
