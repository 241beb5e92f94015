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
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The answers to a group so far, and the failures. Not thread-safe. */
final class GroupOutcome {

    private final List<Operation> group;
    private final @Nullable Answer[] answers;
    private final @Nullable LimitStoreException[] failures;
    private final Set<Integer> failedShards = new TreeSet<>();

    GroupOutcome(List<Operation> group) {
        this.group = group;
        this.answers = new @Nullable Answer[group.size()];
        this.failures = new @Nullable LimitStoreException[group.size()];
    }

    List<Operation> group() {
        return group;
    }

    /** The places of operations without an answer. Their failures are forgotten. */
    List<Integer> reopen() {
        List<Integer> open = new ArrayList<>();
        for (int i = 0; i < answers.length; i++) {
            if (answers[i] == null) {
                failures[i] = null;
                open.add(i);
            }
        }
        failedShards.clear();
        return open;
    }

    void answered(int place, Answer answer) {
        answers[place] = answer;
    }

    void failed(int place, LimitStoreException e, Set<Integer> shards) {
        failures[place] = e;
        failedShards.addAll(shards);
    }

    /** Takes what a store has decided before it failed. */
    void decidedBefore(LimitStoreException e) {
        for (int i = 0; i < answers.length; i++) {
            answers[i] = e.answers().isEmpty() ? null : e.answers().get(i);
        }
    }

    /** The keys that have moved to another shard. */
    Set<StateKey> moved() {
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
        if (all.stream().allMatch(GroupOutcome::isUndone)
                && Arrays.stream(answers).allMatch(Objects::isNull)) {
            LimitStoreException last = all.get(all.size() - 1);
            return new UnreachedStoreException(String.valueOf(last.getMessage()), failedShards, last);
        }
        Set<StateKey> locked = new HashSet<>();
        for (LimitStoreException failure : all) {
            if (!(failure instanceof LockedKeysException keys)) {
                return new LimitStoreException(
                        String.valueOf(failure.getMessage()), Arrays.asList(answers), failedShards, failure);
            }
            locked.addAll(keys.keys());
        }
        return locked.isEmpty()
                ? new LockedKeysException(
                        String.valueOf(all.get(0).getMessage()), locked, Arrays.asList(answers), all.get(0))
                : new LockedKeysException(locked, Arrays.asList(answers), all.get(0));
    }

    /** Whether no shard has changed anything for it. */
    private static boolean isUndone(LimitStoreException failure) {
        return failure instanceof UnreachedStoreException || failure instanceof MovedKeysException;
    }
}
