package dev.ratelimit.rule;

/** A rule that cannot be right. Names the rule, the property and the value, and says what to write instead. */
public final class InvalidRuleException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String rule;
    private final String property;
    private final String value;
    private final String advice;

    public InvalidRuleException(String rule, String property, String value, String advice) {
        super("rule '" + rule + "': " + property + " is '" + value + "'; " + advice);
        this.rule = rule;
        this.property = property;
        this.value = value;
        this.advice = advice;
    }

    public String rule() {
        return rule;
    }

    public String property() {
        return property;
    }

    public String value() {
        return value;
    }

    public String advice() {
        return advice;
    }
}
