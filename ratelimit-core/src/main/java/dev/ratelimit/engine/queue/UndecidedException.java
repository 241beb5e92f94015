package dev.ratelimit.engine.queue;

import dev.ratelimit.Outcome;

/** The store has not decided, for the reason in the message. */
public final class UndecidedException extends Exception {

    private static final long serialVersionUID = 1L;

    private final Outcome outcome;

    private UndecidedException(Outcome outcome, String message) {
        super(message, null, false, false);
        this.outcome = outcome;
    }

    private UndecidedException(Throwable cause) {
        super(cause.getMessage(), cause, false, false);
        this.outcome = Outcome.FAILED;
    }

    public static UndecidedException overloaded(int waiting) {
        return new UndecidedException(Outcome.OVERLOADED, waiting + " requests are already waiting for a decision");
    }

    public static UndecidedException late() {
        return new UndecidedException(Outcome.FAILED, "the store did not answer in time");
    }

    public static UndecidedException locked() {
        return new UndecidedException(Outcome.FAILED, "another process holds the state of the subject");
    }

    public static UndecidedException closed() {
        return new UndecidedException(Outcome.FAILED, "the rate limiter is closed");
    }

    public static UndecidedException failed(Throwable cause) {
        return new UndecidedException(cause);
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
