package dev.ratelimit.autoconfigure;

import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A property that cannot be right. */
final class InvalidPropertyException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /** As all constructors here say it: {@code max-waiting is 0; write a whole number from 1 to 10000000}. */
    private static final Pattern REFUSAL = Pattern.compile("([a-z0-9-]+) is (.*); (.*)");

    private final String property;
    private final String value;
    private final String advice;

    InvalidPropertyException(String property, String value, String advice) {
        super(property + " is " + value + "; " + advice);
        this.property = property;
        this.value = value;
        this.advice = advice;
    }

    /** Makes a part of values of the configuration, and says of a refused one where it stands. */
    static <T> T naming(String prefix, Supplier<T> part) {
        try {
            return part.get();
        } catch (IllegalArgumentException e) {
            Matcher refusal = REFUSAL.matcher(String.valueOf(e.getMessage()));
            if (!refusal.matches()) {
                throw e;
            }
            throw new InvalidPropertyException(prefix + refusal.group(1), refusal.group(2), refusal.group(3));
        }
    }

    String property() {
        return property;
    }

    String value() {
        return value;
    }

    String advice() {
        return advice;
    }
}
