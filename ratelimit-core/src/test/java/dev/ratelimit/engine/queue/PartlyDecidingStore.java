package dev.ratelimit.engine.queue;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/** A store whose next calls decide only a part of their group, and then fail. Not thread-safe. */
final class PartlyDecidingStore extends ForwardingLimitStore {

    private record Failure(Predicate<Operation> decides, Function<List<Answer>, LimitStoreException> exception) {}

    private final Queue<Failure> failures = new ArrayDeque<>();
    private final List<List<Operation>> calls = new ArrayList<>();

    PartlyDecidingStore(LimitStore store) {
        super(store);
    }

    /** The next call decides these operations and then fails. */
    void failAfter(Predicate<Operation> decided) {
        failures.add(new Failure(
                decided,
                answers -> new LimitStoreException("the store failed", answers, new SQLException("out of memory"))));
    }

    /** The next call decides these operations and then finds a key locked. */
    void findLocked(StateKey key, Predicate<Operation> decided) {
        failures.add(new Failure(
                decided, answers -> new LockedKeysException(Set.of(key), answers, new SQLException("lock timeout"))));
    }

    /** The groups that it was asked to decide. */
    List<List<Operation>> calls() {
        return calls;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        calls.add(List.copyOf(group));
        Failure failure = failures.poll();
        if (failure == null) {
            return super.decide(group);
        }
        List<Operation> part = group.stream().filter(failure.decides).toList();
        Iterator<Answer> decided = super.decide(part).iterator();
        List<Answer> answers = new ArrayList<>();
        for (Operation operation : group) {
            answers.add(failure.decides.test(operation) ? decided.next() : null);
        }
        throw failure.exception.apply(answers);
    }
}
