package dev.ratelimit.engine.queue;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import java.util.concurrent.CompletableFuture;

/** Leaves operations to the workers, which decide them together with other requests. */
@FunctionalInterface
public interface WorkQueue {

    void submitLater(Pending pending) throws UndecidedException;

    /** Asks without waiting. The answer may come after the deadline. */
    default CompletableFuture<Answer> ask(Operation operation) {
        CompletableFuture<Answer> answered = new CompletableFuture<>();
        try {
            submitLater(new Pending(operation, result -> {
                if (result instanceof Answer answer) {
                    answered.complete(answer);
                } else {
                    answered.completeExceptionally((Throwable) result);
                }
            }));
        } catch (UndecidedException e) {
            answered.completeExceptionally(e);
        }
        return answered;
    }
}
