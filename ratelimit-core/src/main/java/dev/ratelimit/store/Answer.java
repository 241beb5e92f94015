package dev.ratelimit.store;

import dev.ratelimit.algorithm.Verdict;
import java.util.List;

/**
 * What a store answers to one operation.
 *
 * @param now the clock of the store, in microseconds since the epoch
 * @param verdicts one for each demand, in their order
 */
public record Answer(long now, List<Verdict> verdicts) {

    /** Whether every limit had room. */
    public boolean allowed() {
        for (Verdict verdict : verdicts) {
            if (!verdict.allowed()) {
                return false;
            }
        }
        return true;
    }
}
