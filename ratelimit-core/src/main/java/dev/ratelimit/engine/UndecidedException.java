package dev.ratelimit.engine;

import dev.ratelimit.Outcome;

/** The store has not decided, for the reason in the message. */
final class UndecidedException extends Exception {

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

    static UndecidedException overloaded(int waiting) {
        return new UndecidedException(Outcome.OVERLOADED, waiting + " requests are already waiting for a decision");
    }

    static UndecidedException late() {
        return new UndecidedException(Outcome.FAILED, "the store did not answer in time");
    }

    static UndecidedException locked() {
        return new UndecidedException(Outcome.FAILED, "another process holds the state of the subject");
    }

    static UndecidedException closed() {
        return new UndecidedException(Outcome.FAILED, "the rate limiter is closed");
    }

    static UndecidedException failed(Throwable cause) {
        return new UndecidedException(cause);
    }

    Outcome outcome() {
        return outcome;
    }

    /** The failure to report: the cause if there is one, else this. */
    Throwable reason() {
        Throwable cause = getCause();
        return cause == null ? this : cause;
    }
}
