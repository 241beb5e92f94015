package dev.ratelimit.policy;

import dev.ratelimit.setting.InvalidSettingException;
import org.jspecify.annotations.Nullable;

/** An invalid rule. Names the rule, the property and the value, and says what to write instead. */
public final class InvalidRuleException extends InvalidSettingException {

    private static final long serialVersionUID = 1L;

    private final String rule;

    public InvalidRuleException(String rule, String property, @Nullable Object value, String advice) {
        super(of(rule), property, value, advice);
        this.rule = rule;
    }

    /** The same mistake in the named rule. */
    InvalidRuleException(String rule, InvalidSettingException mistake) {
        super(of(rule), mistake.property(), mistake);
        this.rule = rule;
    }

    private static String of(String rule) {
        return "rule '" + rule + "'";
    }

    public String rule() {
        return rule;
    }
}
