package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ratelimit.setting.InvalidLimitException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Asserts the message about an invalid limit. */
final class Refused {

    private Refused() {}

    /** The whole message is this, and the parts of the exception say the same. */
    static void refused(ThrowingCallable mistake, String message) {
        InvalidLimitException refusal = catchThrowableOfType(InvalidLimitException.class, mistake);
        assertThat(refusal).as("what is said instead of: %s", message).isNotNull();
        assertThat(refusal).hasMessage(message);
        String limit = refusal.limit() == null ? "" : "limit '" + refusal.limit() + "': ";
        assertThat(limit + refusal.property() + " is " + refusal.value() + "; " + refusal.advice())
                .isEqualTo(message);
    }
}
