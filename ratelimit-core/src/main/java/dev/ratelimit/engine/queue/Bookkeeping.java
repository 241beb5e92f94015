package dev.ratelimit.engine.queue;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import java.util.List;
import java.util.function.Predicate;

/**
 * Keeps account of the groups that go to the store: requests that were decided without it, and permits that this process
 * granted meanwhile and that the store has not charged yet.
 */
public interface Bookkeeping {

    /**
     * Prepares a group for the store. {@link #returned} must follow.
     *
     * @return those of the group that still want an answer
     */
    List<Pending> send(List<Pending> group);

    /** A group that was sent is no longer at the store. */
    void returned(List<Pending> group);

    /**
     * Takes the answers of a group.
     *
     * @return operations that the store is still to be asked for: charges to take back
     */
    List<Operation> answered(List<Pending> sent, List<Answer> answers);

    /** A call has failed: the debt that it carried is still owed. */
    void failed(List<Pending> sent);

    /**
     * Operations that bring debts to the store, since no later request may carry them.
     *
     * @param which the keys whose debts may be brought
     */
    List<Operation> due(int most, Predicate<StateKey> which);

    /** An operation that was due is not sent now; it is due again. */
    void notSent(Operation debt);
}
