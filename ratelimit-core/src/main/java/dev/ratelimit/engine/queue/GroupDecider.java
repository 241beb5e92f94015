package dev.ratelimit.engine.queue;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.LogText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the store to decide a group, and tells each caller its answer or its failure.
 *
 * <ol>
 *   <li>Callers that were decided locally meanwhile are left out. The others carry the debts of their subjects.
 *   <li>If the store fails after a part of the group, that part is answered. The rest fails.
 *   <li>If another process holds some keys, the requests on these keys fail. The rest is sent again without them.
 *   <li>Charges to take back, and debts of subjects without requests, are sent with later groups.
 * </ol>
 *
 * Thread-safe.
 */
final class GroupDecider {

    private static final Logger log = LoggerFactory.getLogger(GroupDecider.class);

    /** How many debts are brought to the store with a group. */
    private static final int DEBTS_AT_ONCE = 16;

    private final LimitStore store;
    private final GroupWatch watch;
    private final Predicate<StateKey> broughtHere;
    private final Bookkeeping books;
    private final LockedKeys locked;
    private final WorkQueue queue;
    private final LongAdder calls = new LongAdder();
    private final LongAdder requests = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    /**
     * @param queue takes operations for later groups
     */
    GroupDecider(GroupQueues shared, GroupWatch watch, WorkQueue queue) {
        this.store = shared.store;
        this.watch = watch;
        this.broughtHere = watch::brings;
        this.books = shared.books;
        this.locked = shared.locked;
        this.queue = queue;
    }

    void decide(List<Pending> group) {
        List<Pending> sent = books.send(group);
        try {
            List<Pending> asking = sent;
            while (!asking.isEmpty()) {
                asking = ask(asking);
            }
        } finally {
            books.returned(sent);
        }
    }

    /**
     * @return the callers to ask again for, since others of the group were in their way
     */
    private List<Pending> ask(List<Pending> group) {
        long askedAt = System.nanoTime();
        try {
            List<Answer> answers = call(group, askedAt);
            // Here, and not where the answers arrive: a store that answers is not down because its callers have left.
            watch.answered(group);
            answer(group, answers);
            return List.of();
        } catch (LockedKeysException e) {
            Failed failed = new Failed(group, e);
            if (!failed.decided.isEmpty()) {
                watch.answered(failed.decided);
            }
            answer(failed.decided, failed.answers);
            return askWithout(e, failed.undecided);
        } catch (Throwable e) { // a store in another language may throw undeclared exceptions
            Failed failed = new Failed(group, e);
            watch.failed(failed.decided, failed.undecided, e, askedAt);
            answer(failed.decided, failed.answers);
            fail(failed.undecided, e);
            return List.of();
        }
    }

    private List<Answer> call(List<Pending> group, long askedAt) {
        try {
            return store.decide(group.stream().map(Pending::sent).toList());
        } finally {
            calls.increment();
            requests.add(group.size());
            nanos.add(System.nanoTime() - askedAt);
        }
    }

    GroupQueue.Calls calls() {
        return new GroupQueue.Calls(calls.sum(), requests.sum(), nanos.sum());
    }

    private void answer(List<Pending> group, List<Answer> answers) {
        if (group.isEmpty()) {
            return;
        }
        List<Operation> takenBack = books.answered(group, answers);
        Pending.complete(group, answers::get);
        for (Operation refund : takenBack) {
            submitQuietly(refund);
        }
        for (Operation debt : books.due(DEBTS_AT_ONCE, broughtHere)) {
            if (!submitQuietly(debt)) {
                books.notSent(debt);
            }
        }
    }

    /** A group at which the store has failed: those that it had decided before, with their answers, and the others. */
    private static final class Failed {

        private final List<Pending> decided = new ArrayList<>();
        private final List<Answer> answers = new ArrayList<>();
        private final List<Pending> undecided = new ArrayList<>();

        Failed(List<Pending> group, Throwable e) {
            List<@Nullable Answer> given = e instanceof LimitStoreException failure ? failure.answers() : List.of();
            for (int i = 0; i < group.size(); i++) {
                Answer answer = given.isEmpty() ? null : given.get(i);
                if (answer == null) {
                    undecided.add(group.get(i));
                } else {
                    decided.add(group.get(i));
                    answers.add(answer);
                }
            }
        }
    }

    private void fail(List<Pending> group, Throwable e) {
        books.failed(group);
        Pending.complete(group, place -> e);
    }

    /** Fails the requests on locked keys. */
    private List<Pending> askWithout(LockedKeysException e, List<Pending> group) {
        locked.add(e);
        List<Pending> stuck = new ArrayList<>();
        List<Pending> rest = new ArrayList<>();
        for (Pending pending : group) {
            (Collections.disjoint(pending.keys, e.keys()) ? rest : stuck).add(pending);
        }
        if (stuck.isEmpty()) {
            fail(group, e);
            return List.of();
        }
        fail(stuck, e);
        return rest;
    }

    /**
     * Asks without a caller that waits.
     *
     * @return whether it will be asked
     */
    private boolean submitQuietly(Operation operation) {
        try {
            queue.submitLater(new Pending(operation, answer -> {}));
            return true;
        } catch (UndecidedException e) {
            log.debug("Postponing the correction of a charge: {}", LogText.of(e.getMessage()));
            return false;
        }
    }
}
