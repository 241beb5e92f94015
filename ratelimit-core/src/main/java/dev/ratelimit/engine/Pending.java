package dev.ratelimit.engine;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An operation that waits for its group, and the thread that waits with it. */
final class Pending {

    final Operation operation;
    private final Thread waiter = Thread.currentThread();

    /** Who is told instead, if nobody waits. */
    private final @Nullable Consumer<Object> later;

    /** An {@link Answer} or a {@link Throwable}. */
    private volatile @Nullable Object result;

    Pending(Operation operation) {
        this(operation, null);
    }

    Pending(Operation operation, @Nullable Consumer<Object> later) {
        this.operation = operation;
        this.later = later;
    }

    void complete(Object answerOrFailure) {
        result = answerOrFailure;
        if (later != null) {
            later.accept(answerOrFailure);
            return;
        }
        LockSupport.unpark(waiter);
    }

    /** Waits until it is decided; {@code false} if the deadline comes first. An interrupt does not end the wait. */
    boolean await(long deadlineNanos) {
        boolean interrupted = false;
        while (result == null) {
            long left = deadlineNanos - System.nanoTime();
            if (left <= 0) {
                break;
            }
            LockSupport.parkNanos(this, left);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return result != null;
    }

    Answer answer() throws UndecidedException {
        if (result instanceof Answer answer) {
            return answer;
        }
        throw UndecidedException.failed((Throwable) Objects.requireNonNull(result));
    }
}
