package dev.ratelimit.engine.queue;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * An operation that waits for its group, and the thread that waits with it.
 *
 * <p>To wake a thread takes longer than to decide for it, and a thread that wakes a whole group cannot take the next
 * one meanwhile. So the deciding thread wakes only the first few. Each of these wakes some of the others before it
 * continues.
 */
public final class Pending {

    /** How many threads each one wakes: few enough to take little time, enough for a chain of at most two others. */
    private static final int WOKEN_BY_EACH = 8;

    /** In place of a result: the caller has left. */
    private static final Object LEFT = new Object();

    public final Operation operation;

    /** By which it is kept apart from other groups. */
    public final List<StateKey> keys;

    private final Thread waiter = Thread.currentThread();

    /** Gets the result if no thread waits for it. */
    private final @Nullable Consumer<Object> callback;

    private final boolean orHere;

    /** An {@link Answer} or a {@link Throwable}. */
    private final AtomicReference<@Nullable Object> result = new AtomicReference<>();

    // Written before the result.
    private List<Pending> group = List.of();
    private int place;

    // Guarded by the lock of LocalDecisions.
    private @Nullable Operation sent;
    private boolean atStore;
    private @Nullable Answer storeAnswer;
    private @Nullable Answer foreseen;
    private @Nullable Answer decidedHere;

    public Pending(Operation operation) {
        this(operation, null);
    }

    public Pending(Operation operation, @Nullable Consumer<Object> callback) {
        this(operation, callback, false);
    }

    /**
     * @param orHere whether this process decides it if the store does not
     */
    public Pending(Operation operation, @Nullable Consumer<Object> callback, boolean orHere) {
        this.operation = operation;
        this.keys = keys(operation.demands());
        this.callback = callback;
        this.orHere = orHere;
    }

    private static List<StateKey> keys(List<Operation.Demand> demands) {
        if (demands.size() == 1) {
            return List.of(demands.get(0).key());
        }
        List<StateKey> keys = new ArrayList<>(demands.size());
        for (Operation.Demand demand : demands) {
            keys.add(demand.key());
        }
        return keys;
    }

    /**
     * Tells all of a group.
     *
     * @param results an answer or a failure for each place in the group
     */
    public static void complete(List<Pending> group, IntFunction<Object> results) {
        // From the last to the first: when a thread is awake, those that it wakes have their results.
        for (int place = group.size() - 1; place >= 0; place--) {
            group.get(place).complete(group, place, results.apply(place));
        }
        wake(group, 0);
    }

    private void complete(List<Pending> group, int place, Object answerOrFailure) {
        this.group = group;
        this.place = place;
        boolean awaited = result.compareAndSet(null, answerOrFailure);
        if (callback != null) {
            callback.accept(answerOrFailure);
        }
        if (!awaited || callback != null) {
            wakeOthers(); // which it will not do itself
        }
    }

    private void wakeOthers() {
        wake(group, WOKEN_BY_EACH * (place + 1));
    }

    private static void wake(List<Pending> group, int from) {
        for (int place = from; place < Math.min(group.size(), from + WOKEN_BY_EACH); place++) {
            LockSupport.unpark(group.get(place).waiter);
        }
    }

    /** Waits until it is decided, and goes on waiting afterwards; {@code false} if the moment comes first. */
    boolean isDecidedBy(long nanos) {
        boolean interrupted = false;
        for (long left = nanos - System.nanoTime();
                result.get() == null && left > 0;
                left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return result.get() != null;
    }

    /** Whether the caller has left. */
    boolean hasLeft() {
        return result.get() == LEFT;
    }

    /** Waits until it is decided; {@code false} if the deadline comes first. An interrupt does not end the wait. */
    boolean await(long deadlineNanos) {
        if (!isDecidedBy(deadlineNanos) && result.compareAndSet(null, LEFT)) {
            return false;
        }
        wakeOthers();
        return true;
    }

    Answer answer() throws UndecidedException {
        if (result.get() instanceof Answer answer) {
            return answer;
        }
        throw UndecidedException.failed((Throwable) Objects.requireNonNull(result.get()));
    }

    public void send(Operation prepared) {
        sent = prepared;
        atStore = true;
    }

    /** The demand as it was sent, with the debt that it carries. */
    public Operation.Demand sentDemand(int number) {
        return Objects.requireNonNull(sent).demands().get(number);
    }

    /** The operation as it was sent. */
    public Operation sent() {
        return Objects.requireNonNull(sent);
    }

    public boolean isAtStore() {
        return atStore;
    }

    public void answered(Answer answer) {
        storeAnswer = answer;
        atStore = false;
    }

    public void failed() {
        atStore = false;
    }

    /** Whether this process decides it if the store does not. */
    public boolean isDecidedHereOtherwise() {
        return orHere;
    }

    public @Nullable Answer storeAnswer() {
        return storeAnswer;
    }

    public void foresee(@Nullable Answer answer) {
        foreseen = answer;
    }

    /** The answer that the store will give as far as this process knows; {@code null} until it is asked for. */
    public @Nullable Answer foreseen() {
        return foreseen;
    }

    public void decidedHere(Answer answer) {
        decidedHere = answer;
    }

    public @Nullable Answer decidedHere() {
        return decidedHere;
    }

    public boolean isDecidedHere() {
        return decidedHere != null;
    }
}
