package dev.ratelimit.store.shard;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.UnreachedStoreException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The answers to a group so far, and the failures. Not thread-safe. */
final class GroupOutcome {

    private final List<Operation> group;
    private final @Nullable Answer[] answers;
    private final @Nullable LimitStoreException[] failures;

    /** For each operation that failed, the shards that are to blame. */
    private final Map<Integer, Set<Integer>> failedShards = new HashMap<>();

    GroupOutcome(List<Operation> group) {
        this.group = group;
        this.answers = new @Nullable Answer[group.size()];
        this.failures = new @Nullable LimitStoreException[group.size()];
    }

    List<Operation> group() {
        return group;
    }

    /** The places of operations with neither an answer nor a failure. */
    List<Integer> open() {
        List<Integer> open = new ArrayList<>();
        for (int i = 0; i < answers.length; i++) {
            if (answers[i] == null && failures[i] == null) {
                open.add(i);
            }
        }
        return open;
    }

    /** Whether operations failed since state has moved to another shard. */
    boolean hasMoved() {
        return !moved().isEmpty();
    }

    /** Forgets these failures. All others stay: nobody knows whether their operations were done. */
    void reopen() {
        reopen(Set.of());
    }

    /** The same for operations that were only in the same group. */
    void reopenOthers() {
        reopen(moved());
    }

    private void reopen(Set<StateKey> without) {
        for (int i = 0; i < failures.length; i++) {
            if (failures[i] instanceof MovedKeysException
                    && group.get(i).demands().stream().noneMatch(demand -> without.contains(demand.key()))) {
                failures[i] = null;
                failedShards.remove(i);
            }
        }
    }

    void answered(int place, Answer answer) {
        answers[place] = answer;
    }

    void failed(int place, LimitStoreException e, Set<Integer> shards) {
        failures[place] = e;
        failedShards.put(place, shards);
    }

    /** Takes what a store has decided before it failed, and its failure for the others. */
    void failed(MovedKeysException e) {
        for (int i = 0; i < answers.length; i++) {
            answers[i] = e.answers().isEmpty() ? null : e.answers().get(i);
            failures[i] = answers[i] == null ? e : null;
        }
    }

    /** The keys that have moved to another shard. */
    private Set<StateKey> moved() {
        Set<StateKey> keys = new HashSet<>();
        for (LimitStoreException failure : failures) {
            if (failure instanceof MovedKeysException moved) {
                keys.addAll(moved.keys());
            }
        }
        return keys;
    }

    /** All answers. */
    List<Answer> answers() {
        List<LimitStoreException> all =
                Arrays.stream(failures).filter(Objects::nonNull).toList();
        if (!all.isEmpty()) {
            throw failed(all);
        }
        return Arrays.stream(answers).map(Objects::requireNonNull).toList();
    }

    private LimitStoreException failed(List<LimitStoreException> all) {
        LimitStoreException worst =
                all.stream().filter(failure -> !isOfKeys(failure)).findFirst().orElse(all.get(0));
        String message = String.valueOf(worst.getMessage());
        if (isOfKeys(worst)) {
            return new LockedKeysException(message, keys(all), Arrays.asList(answers), worst);
        }
        Set<Integer> shards = new TreeSet<>();
        failedShards.values().forEach(shards::addAll);
        return all.stream().allMatch(GroupOutcome::isUnreached)
                        && Arrays.stream(answers).allMatch(Objects::isNull)
                ? new UnreachedStoreException(message, shards, worst)
                : new LimitStoreException(message, Arrays.asList(answers), shards, worst);
    }

    /** Whether the shards are well, and only some keys cannot be decided. */
    private static boolean isOfKeys(LimitStoreException failure) {
        return failure instanceof LockedKeysException || failure instanceof MovedKeysException;
    }

    private static boolean isUnreached(LimitStoreException failure) {
        return failure instanceof UnreachedStoreException || failure instanceof MovedKeysException;
    }

    private static Set<StateKey> keys(List<LimitStoreException> all) {
        Set<StateKey> keys = new HashSet<>();
        for (LimitStoreException failure : all) {
            if (failure instanceof LockedKeysException locked) {
                keys.addAll(locked.keys());
            } else if (failure instanceof MovedKeysException moved) {
                keys.addAll(moved.keys());
            }
        }
        return keys;
    }
}
