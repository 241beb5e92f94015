package dev.ratelimit.actuate;

/** There is no such section, limit or rule. */
final class NotFoundException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NotFoundException(String message) {
        super(message);
    }
}
