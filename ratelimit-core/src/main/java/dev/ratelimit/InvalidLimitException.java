package dev.ratelimit;

import org.jspecify.annotations.Nullable;

/**
 * A limit that cannot be right. Names the limit, the property and the value, and says what to write instead.
 */
public final class InvalidLimitException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final @Nullable String limit;
    private final String property;
    private final String value;
    private final String advice;

    /**
     * @param limit the limit's name, or {@code null} where it is not known yet
     * @param property the property as written in configuration, such as {@code max-requests}
     * @param value the refused value
     * @param advice what to write instead, as an imperative clause such as "write a whole number of at least 1"
     */
    public InvalidLimitException(@Nullable String limit, String property, @Nullable Object value, String advice) {
        super((limit == null ? "" : "limit '" + limit + "': ") + property + " is " + shown(value) + "; " + advice);
        this.limit = limit;
        this.property = property;
        this.value = shown(value);
        this.advice = advice;
    }

    private static String shown(@Nullable Object value) {
        if (value == null) {
            return "missing";
        }
        String text = value instanceof Number ? value.toString() : "'" + value + "'";
        return text.length() <= 120 ? text : text.substring(0, 117) + "...";
    }

    /** The same mistake, said of the named limit. */
    InvalidLimitException in(String name) {
        if (limit != null) {
            return this;
        }
        InvalidLimitException named = new InvalidLimitException(name, property, value, advice, this);
        named.setStackTrace(getStackTrace());
        return named;
    }

    private InvalidLimitException(
            String limit, String property, String shownValue, String advice, InvalidLimitException cause) {
        super("limit '" + limit + "': " + property + " is " + shownValue + "; " + advice, cause);
        this.limit = limit;
        this.property = property;
        this.value = shownValue;
        this.advice = advice;
    }

    /** The name of the limit, or {@code null} for a part of a limit that was built on its own. */
    public @Nullable String limit() {
        return limit;
    }

    public String property() {
        return property;
    }

    /** The refused value as it is shown to people: quoted if it is text, {@code missing} if there is none. */
    public String value() {
        return value;
    }

    public String advice() {
        return advice;
    }
}
