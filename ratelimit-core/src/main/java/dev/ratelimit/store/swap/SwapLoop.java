package dev.ratelimit.store.swap;

import dev.ratelimit.algorithm.Check;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides groups by swaps. Safe for use by many threads.
 *
 * <ol>
 *   <li>The group is divided into parts that have no key in common.
 *   <li>The rows of all parts and the clock are read.
 *   <li>Each part is decided in Java. A part that changes nothing, such as a denial, is answered by the rows just read.
 *   <li>The changes are written where all rows of a part are still as they were read.
 *   <li>Parts that have lost are read and decided again. From the second loss on there is a pause before that.
 *   <li>Parts that still lose at the end of the time have charged nothing, and their keys are reported as locked.
 * </ol>
 *
 * If the store fails during a write, it is not known whether the write is stored. It is not tried again: its requests are not
 * admitted, whether or not they were charged.
 */
public final class SwapLoop {

    /** A decision of a longer time ago is not written: the clocks of other writers may be that far ahead already. */
    private static final long OLDEST =
            Check.CLOCK_TOLERANCE / Micros.PER_SECOND * Duration.ofSeconds(1).toNanos();

    private static final long MARKS = 1L << 62;

    private final SwapTable table;
    private final Duration bound;
    private final LongSupplier nanoTime;
    private final LostSwaps lostSwaps = new LostSwaps();

    /**
     * @param bound how long to try again after lost swaps
     */
    public SwapLoop(SwapTable table, Duration bound) {
        this(table, bound, System::nanoTime);
    }

    /** The same by another clock, for tests. */
    SwapLoop(SwapTable table, Duration bound, LongSupplier nanoTime) {
        this.table = table;
        this.bound = bound;
        this.nanoTime = nanoTime;
    }

    /**
     * Decides the group, as {@code LimitStore.decide} promises.
     *
     * @throws LockedKeysException if keys are so contended that their swaps still lose after the bound
     * @throws MovedKeysException if the table says so
     */
    public List<Answer> decide(List<Operation> group) {
        @Nullable Answer[] answers = new @Nullable Answer[group.size()];
        try {
            decide(group, answers);
            return List.of(requireAll(answers));
        } catch (LockedKeysException e) {
            throw e;
        } catch (MovedKeysException e) {
            throw new MovedKeysException(e.keys(), Arrays.asList(answers));
        } catch (LimitStoreException e) {
            boolean none = Arrays.stream(answers).allMatch(answer -> answer == null);
            throw none ? e : new LimitStoreException(String.valueOf(e.getMessage()), Arrays.asList(answers), e);
        }
    }

    /** Whether the key has lost many swaps lately. */
    public boolean isContended(StateKey key) {
        return lostSwaps.areMany(key);
    }

    private void decide(List<Operation> group, @Nullable Answer[] answers) {
        List<SwapPart> open = SwapParts.of(group);
        boolean withViolations = countsViolations(group);
        Backoff backoff = Backoff.within(bound);
        while (true) {
            long readAt = nanoTime.getAsLong();
            SwapSnapshot snapshot = table.read(keys(open), withViolations);
            List<SwapChange> changes = decide(open, snapshot, answers);
            if (!changes.isEmpty() && nanoTime.getAsLong() - readAt < OLDEST) {
                Set<SwapChange> written = table.swap(changes);
                answer(open, answers, part -> written.contains(part.change()));
            }
            if (open.isEmpty()) {
                return;
            }
            open.forEach(part -> part.keys().forEach(lostSwaps::add));
            if (!backoff.again()) {
                throw new LockedKeysException(
                        keys(open),
                        Arrays.asList(answers),
                        new IllegalStateException("lost " + backoff.lost() + " swaps in a row"));
            }
        }
    }

    private static boolean countsViolations(List<Operation> group) {
        for (Operation operation : group) {
            for (Demand demand : operation.demands()) {
                if (!demand.limit().penalties().isEmpty()) {
                    return true;
                }
            }
        }
        return false;
    }

    private static Set<StateKey> keys(List<SwapPart> parts) {
        Set<StateKey> keys = new LinkedHashSet<>();
        parts.forEach(part -> keys.addAll(part.keys()));
        return keys;
    }

    /** Decides the open parts, and answers those that need no write. */
    private static List<SwapChange> decide(List<SwapPart> open, SwapSnapshot snapshot, @Nullable Answer[] answers) {
        answer(open, answers, part -> part.isStored(snapshot));
        long mark = ThreadLocalRandom.current().nextLong(1, MARKS);
        List<SwapChange> changes = new ArrayList<>(open.size());
        answer(open, answers, part -> {
            SwapChange change = part.decide(snapshot, mark);
            if (change != null) {
                changes.add(change);
            }
            return change == null;
        });
        return changes;
    }

    private interface Condition {
        boolean holds(SwapPart part);
    }

    /** Answers the parts for which the condition holds, and closes them. */
    private static void answer(List<SwapPart> open, @Nullable Answer[] answers, Condition condition) {
        for (Iterator<SwapPart> parts = open.iterator(); parts.hasNext(); ) {
            SwapPart part = parts.next();
            if (condition.holds(part)) {
                part.answer(answers);
                parts.remove();
            }
        }
    }

    @SuppressWarnings("NullAway") // all operations are answered by now
    private static Answer[] requireAll(@Nullable Answer[] answers) {
        return answers;
    }
}
