package dev.ratelimit.setting;

import org.jspecify.annotations.Nullable;

/**
 * An invalid limit. Names the limit, the property and the value, and says what to write instead.
 */
public final class InvalidLimitException extends InvalidSettingException {

    private static final long serialVersionUID = 1L;

    /** Stands for the name of the limit, in the place of a property. */
    public static final String NAME = "limit name";

    private final @Nullable String limit;

    /**
     * @param limit the limit's name, or {@code null} where it is not known yet
     * @param property the property as written in configuration, such as {@code max-requests}
     * @param value the refused value
     * @param advice the remedy, as an imperative clause such as "write a whole number of at least 1"
     */
    public InvalidLimitException(@Nullable String limit, String property, @Nullable Object value, String advice) {
        super(limit == null ? null : of(limit), property, value, advice);
        this.limit = limit;
    }

    private InvalidLimitException(String limit, String property, InvalidLimitException mistake) {
        super(of(limit), property, mistake);
        this.limit = limit;
    }

    private static String of(String limit) {
        return "limit '" + limit + "'";
    }

    /** The same mistake in a part of the named limit. */
    public InvalidLimitException in(String name, String part) {
        return new InvalidLimitException(name, part + property(), this);
    }

    /** The same mistake in the named limit. */
    public InvalidLimitException in(String name) {
        return limit != null ? this : new InvalidLimitException(name, property(), this);
    }

    /** The name of the limit, or {@code null} for a part of a limit that was built on its own. */
    public @Nullable String limit() {
        return limit;
    }
}
