package dev.ratelimit.engine.queue;

import dev.ratelimit.Outcome;
import dev.ratelimit.store.LimitStoreException;

/** The store has not decided, for the reason in the message. */
public final class UndecidedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final Outcome outcome;
    private final boolean undone;

    private UndecidedException(Outcome outcome, String message, boolean undone) {
        super(message, null, false, false);
        this.outcome = outcome;
        this.undone = undone;
    }

    private UndecidedException(Throwable cause, boolean undone) {
        super(cause.getMessage(), cause, false, false);
        this.outcome = Outcome.FAILED;
        this.undone = undone;
    }

    public static UndecidedException overloaded(int waiting) {
        return new UndecidedException(
                Outcome.OVERLOADED, waiting + " requests are already waiting for a decision", true);
    }

    /**
     * @param sent whether the store may have been asked
     */
    public static UndecidedException late(boolean sent) {
        return new UndecidedException(Outcome.FAILED, "the store did not answer in time", !sent);
    }

    public static UndecidedException locked() {
        return new UndecidedException(Outcome.FAILED, "another process holds the state of the subject", true);
    }

    public static UndecidedException closed() {
        return new UndecidedException(Outcome.FAILED, "the rate limiter is closed", true);
    }

    public static UndecidedException failed(Throwable cause) {
        boolean undone = cause instanceof UndecidedException undecided
                ? undecided.undone
                : cause instanceof LimitStoreException failure && failure.isSurelyUndone();
        return new UndecidedException(cause, undone);
    }

    /** The same reason, for an operation that the store was not asked for. */
    UndecidedException refused() {
        Throwable cause = getCause();
        return cause == null
                ? new UndecidedException(outcome, String.valueOf(getMessage()), true)
                : new UndecidedException(cause, true);
    }

    /** Whether the operation has surely changed nothing. If not, the store may have done it. */
    public boolean isSurelyUndone() {
        return undone;
    }

    public Outcome outcome() {
        return outcome;
    }

    /** The failure to report: the cause if there is one, else this. */
    public Throwable reason() {
        Throwable cause = getCause();
        return cause == null ? this : cause;
    }
}
