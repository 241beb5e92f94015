package dev.ratelimit.dashboard;

import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A call of the page that is refused, with the status and the sentence that the page shows. */
final class RefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final @Nullable String field;

    private RefusedException(int status, @Nullable String field, String message) {
        super(message, null, false, false);
        this.status = status;
        this.field = field;
    }

    /** Something in the body is invalid. */
    static RefusedException invalid(String field, String message) {
        return new RefusedException(422, field, message);
    }

    static RefusedException of(int status, String message) {
        return new RefusedException(status, null, message);
    }

    /** A message as a sentence. */
    static String sentence(@Nullable String message) {
        if (message == null || message.isBlank()) {
            return "It failed.";
        }
        String begun = message.substring(0, 1).toUpperCase(Locale.ROOT) + message.substring(1);
        return begun.endsWith(".") ? begun : begun + ".";
    }

    int status() {
        return status;
    }

    /** The field of the form that the message belongs to, or {@code null}. */
    @Nullable
    String field() {
        return field;
    }

    String text() {
        return Objects.requireNonNull(getMessage());
    }
}
