package dev.ratelimit.engine.queue;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.support.LogText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
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
    private final Breaker breaker;
    private final Bookkeeping books;
    private final LockedKeys locked;
    private final WorkQueue queue;
    private final LongAdder calls = new LongAdder();
    private final LongAdder requests = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    /**
     * @param queue takes operations for later groups
     */
    GroupDecider(LimitStore store, Breaker breaker, Bookkeeping books, LockedKeys locked, WorkQueue queue) {
        this.store = store;
        this.breaker = breaker;
        this.books = books;
        this.locked = locked;
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
            breaker.succeeded();
            answer(group, answers);
            return List.of();
        } catch (LockedKeysException e) {
            return askWithout(e, answerDecided(group, e));
        } catch (Throwable e) { // a store in another language may throw undeclared exceptions
            breaker.failed(UndecidedException.failed(e), askedAt);
            fail(answerDecided(group, e), e);
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
        List<Operation> takenBack = books.answered(group, answers);
        Pending.complete(group, answers::get);
        submitQuietly(takenBack);
        submitQuietly(books.due(DEBTS_AT_ONCE));
    }

    /**
     * Answers the callers that the store had decided before it failed.
     *
     * @return the rest
     */
    private List<Pending> answerDecided(List<Pending> group, Throwable e) {
        List<@Nullable Answer> answers = e instanceof LimitStoreException failure ? failure.answers() : List.of();
        if (answers.isEmpty()) {
            return group;
        }
        List<Pending> decided = new ArrayList<>();
        List<Answer> theirs = new ArrayList<>();
        List<Pending> rest = new ArrayList<>();
        for (int i = 0; i < group.size(); i++) {
            Answer answer = answers.get(i);
            if (answer == null) {
                rest.add(group.get(i));
            } else {
                decided.add(group.get(i));
                theirs.add(answer);
            }
        }
        if (!decided.isEmpty()) {
            answer(decided, theirs);
        }
        return rest;
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

    /** Asks without a caller that waits. */
    private void submitQuietly(List<Operation> operations) {
        for (Operation operation : operations) {
            try {
                queue.submitLater(new Pending(operation, answer -> {}));
            } catch (UndecidedException e) {
                log.debug("Postponing the correction of a charge: {}", LogText.of(e.getMessage()));
            }
        }
    }
}
