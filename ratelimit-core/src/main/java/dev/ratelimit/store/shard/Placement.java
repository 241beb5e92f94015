package dev.ratelimit.store.shard;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which shard has the state of a subject, by one list of shards. While a longer list is new, also which shard may still have it.
 * Shards are numbered as in the configuration. Immutable.
 */
final class Placement {

    /** The number of shards that this instance does not know. */
    static final int UNKNOWN = -1;

    final int version;
    private final Rendezvous current;
    private final int[] numbers;
    private final @Nullable Rendezvous before;
    private final int[] numbersBefore;
    private final boolean[] left;

    /**
     * @param configured the names of all shards that this instance knows, sorted
     * @param names those of the list, sorted
     * @param before those of the list before, sorted; {@code null} if all state has moved
     * @param left for each shard that this instance knows, whether all state that moves has left it
     */
    Placement(int version, List<String> configured, List<String> names, @Nullable List<String> before, boolean[] left) {
        this(
                version,
                new Rendezvous(names),
                names.stream().mapToInt(configured::indexOf).toArray(),
                before == null ? null : new Rendezvous(before),
                before == null
                        ? new int[0]
                        : before.stream().mapToInt(configured::indexOf).toArray(),
                left);
    }

    private Placement(
            int version,
            Rendezvous current,
            int[] numbers,
            @Nullable Rendezvous before,
            int[] numbersBefore,
            boolean[] left) {
        this.version = version;
        this.current = current;
        this.numbers = numbers;
        this.before = before;
        this.numbersBefore = numbersBefore;
        this.left = left.clone();
    }

    /** The only list of shards that never change. */
    static Placement fixed(List<String> names) {
        return new Placement(0, names, names, null, new boolean[names.size()]);
    }

    /** The number of the shard, or {@link #UNKNOWN}. */
    int of(String subject) {
        return numbers[current.of(subject)];
    }

    /** The same list, with what was known of it before: a shard that does not answer says nothing. */
    Placement with(Placement known) {
        if (known.version != version || before == null) {
            return this;
        }
        if (known.before == null) {
            return known;
        }
        boolean[] all = left.clone();
        for (int i = 0; i < all.length; i++) {
            all[i] |= known.left[i];
        }
        boolean complete = Arrays.stream(numbersBefore).allMatch(number -> number != UNKNOWN && all[number]);
        return new Placement(version, current, numbers, complete ? null : before, numbersBefore, all);
    }

    /** Whether this instance knows all shards of the list. */
    boolean knowsAll() {
        return Arrays.stream(numbers).noneMatch(number -> number == UNKNOWN);
    }

    /** Whether some state may still be where the list before had it. */
    boolean isMoving() {
        return before != null;
    }

    /** Whether the shard may still have state that moves. */
    boolean mayHaveOthers(int shard) {
        return !left[shard] && Arrays.stream(numbersBefore).anyMatch(number -> number == shard);
    }

    /** The number of the shard that may still have the state; {@link #UNKNOWN} if none but its own. */
    int before(String subject) {
        if (before == null) {
            return UNKNOWN;
        }
        int number = numbersBefore[before.of(subject)];
        return number == UNKNOWN || left[number] || number == of(subject) ? UNKNOWN : number;
    }
}
