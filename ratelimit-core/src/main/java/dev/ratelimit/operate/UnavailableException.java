package dev.ratelimit.operate;

/** An operation needs a part that is switched off or does not answer. The message says which, and the remedy. */
public final class UnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnavailableException(String message) {
        super(message);
    }
}
