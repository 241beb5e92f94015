package dev.ratelimit.annotation;

import dev.ratelimit.setting.InvalidSettingException;
import org.jspecify.annotations.Nullable;

/** An invalid {@link RateLimited}, found at startup. */
public final class InvalidRateLimitedException extends InvalidSettingException {

    private static final long serialVersionUID = 1L;

    private final String on;

    public InvalidRateLimitedException(String on, String attribute, @Nullable Object value, String advice) {
        super("@RateLimited on " + on, attribute, value, advice);
        this.on = on;
    }

    /** The method that it stands on, with the types of its parameters; or the class. */
    public String on() {
        return on;
    }
}
