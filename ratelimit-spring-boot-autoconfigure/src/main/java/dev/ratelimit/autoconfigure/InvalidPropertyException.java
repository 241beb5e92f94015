package dev.ratelimit.autoconfigure;

/** A property that cannot be right. */
final class InvalidPropertyException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String property;
    private final String value;
    private final String advice;

    InvalidPropertyException(String property, String value, String advice) {
        super(property + " is " + value + "; " + advice);
        this.property = property;
        this.value = value;
        this.advice = advice;
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
