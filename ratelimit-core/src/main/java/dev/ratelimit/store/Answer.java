package dev.ratelimit.store;

import dev.ratelimit.algorithm.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The answer of a store to one operation. Immutable. */
public final class Answer {

    private final long now;
    private final Verdict first;

    /** All of them; {@code null} if there is only one, since most operations have one demand. */
    private final @Nullable List<Verdict> several;

    /**
     * @param now the clock of the store, in microseconds since the epoch
     * @param verdicts one for each demand, in their order
     */
    public Answer(long now, List<Verdict> verdicts) {
        this.now = now;
        this.first = verdicts.get(0);
        this.several = verdicts.size() == 1 ? null : List.copyOf(verdicts);
    }

    /** The answer to an operation with one demand. */
    public Answer(long now, Verdict only) {
        this.now = now;
        this.first = only;
        this.several = null;
    }

    /** The clock of the store, in microseconds since the epoch. */
    public long now() {
        return now;
    }

    /** The verdict on the first demand. */
    public Verdict first() {
        return first;
    }

    /** One for each demand, in their order. */
    public List<Verdict> verdicts() {
        return several == null ? List.of(first) : several;
    }

    /** Whether every limit had room. */
    public boolean allowed() {
        if (several == null) {
            return first.allowed();
        }
        for (Verdict verdict : several) {
            if (!verdict.allowed()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Answer answer && now == answer.now && verdicts().equals(answer.verdicts());
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(now) + verdicts().hashCode();
    }

    @Override
    public String toString() {
        return "Answer[now=" + now + ", verdicts=" + verdicts() + "]";
    }
}
