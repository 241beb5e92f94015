package dev.ratelimit.store.move;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.store.StateKey;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Counts in two stores while an application moves from one to the other, so that nobody gets a fresh limit.
 *
 * <ol>
 *   <li>The previous store decides first. If it fails, the current one is not asked, and the operation has failed.
 *   <li>The current store decides the same. A request is allowed only if both allow it.
 *   <li>If one of them denies or fails, the charge in the other one is given back. A violation that only one has seen is
 *       counted in the other one, too.
 *   <li>The answer is the stricter one of both. A later settlement finds the charges of both by it.
 * </ol>
 *
 * A charge that cannot be given back stays until it expires: the limit then grants less, never more.
 */
public final class MovingLimitStore implements LimitStore {

    private final LimitStore previous;
    private final LimitStore current;
    private final BothCharges charges = new BothCharges();

    private boolean previousPruned;
    private boolean currentPruned;

    /**
     * @param previous the store to leave
     * @param current the store to move to; both are closed with this one
     */
    public MovingLimitStore(LimitStore previous, LimitStore current) {
        this.previous = previous;
        this.current = current;
    }

    /** The store to move to. */
    public LimitStore current() {
        return current;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        return new GroupInBoth(group, charges).decide(previous, current);
    }

    /** Always false: two calls in a row may exceed the deadline. */
    @Override
    public boolean answersInTime() {
        return false;
    }

    @Override
    public int groupsAtOnce() {
        return Math.min(previous.groupsAtOnce(), current.groupsAtOnce());
    }

    /** The part in the current store. If the previous store fails, the exception names no parts. */
    @Override
    public int part(StateKey key) {
        return current.part(key);
    }

    @Override
    public boolean isContended(StateKey key) {
        return current.isContended(key) || previous.isContended(key);
    }

    @Override
    public @Nullable InstantSource clock() {
        return current.clock();
    }

    /** A step in each store that has not reached its end. The numbers are those of the current one: both hold the same subjects. */
    @Override
    public synchronized Pruned prune(long keepMicros) {
        Progress inPrevious =
                previousPruned ? Progress.FINISHED : previous.prune(keepMicros).progress();
        Pruned inCurrent = currentPruned ? new Pruned(0, 0, Progress.FINISHED) : current.prune(keepMicros);
        previousPruned = inPrevious == Progress.FINISHED;
        currentPruned = inCurrent.progress() == Progress.FINISHED;
        if (!currentPruned) {
            return inCurrent;
        }
        if (previousPruned) {
            previousPruned = false;
            currentPruned = false;
            return inCurrent;
        }
        return new Pruned(inCurrent.states(), inCurrent.penalties(), inPrevious);
    }

    @Override
    public void close() {
        try {
            previous.close();
        } finally {
            current.close();
        }
    }
}
