package dev.ratelimit.autoconfigure;

import dev.ratelimit.InvalidLimitException;
import dev.ratelimit.rule.InvalidRuleException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which property is wrong, what its value is, and what to write instead. */
final class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<IllegalArgumentException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, IllegalArgumentException cause) {
        if (cause instanceof InvalidLimitException limit) {
            return analysis(
                    "ratelimit.limits." + limit.limit() + "." + limit.property(), limit.value(), limit.advice(), cause);
        }
        if (cause instanceof InvalidRuleException rule) {
            return analysis(
                    "ratelimit.rules." + rule.rule() + "." + rule.property(),
                    "'" + rule.value() + "'",
                    rule.advice(),
                    cause);
        }
        if (cause instanceof InvalidPropertyException other) {
            return analysis(other.property(), other.value(), other.advice(), cause);
        }
        return null;
    }

    private static FailureAnalysis analysis(String property, String value, String advice, Throwable cause) {
        return new FailureAnalysis(
                "The configuration of rate limits cannot be right:\n\n    Property: " + property + "\n    Value: "
                        + value,
                advice.substring(0, 1).toUpperCase(Locale.ROOT) + advice.substring(1) + ".",
                cause);
    }
}
