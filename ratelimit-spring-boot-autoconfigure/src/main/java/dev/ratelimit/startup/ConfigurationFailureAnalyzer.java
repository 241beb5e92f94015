package dev.ratelimit.startup;

import dev.ratelimit.annotation.InvalidRateLimitedException;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.InvalidSettingException;
import java.util.Locale;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Names the invalid property or annotation, its value and a remedy. */
public final class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidSettingException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidSettingException cause) {
        String advice = cause.advice();
        return new FailureAnalysis(
                what(cause) + "\n    Value: " + cause.value(),
                advice.substring(0, 1).toUpperCase(Locale.ROOT) + advice.substring(1) + ".",
                cause);
    }

    private static String what(InvalidSettingException cause) {
        if (cause instanceof InvalidRateLimitedException annotation) {
            return "Invalid @RateLimited annotation:\n\n    On: " + annotation.on() + "\n    Property: "
                    + annotation.property();
        }
        return "Invalid rate limit configuration:\n\n    Property: " + prefix(cause) + cause.property();
    }

    private static String prefix(InvalidSettingException cause) {
        if (cause instanceof InvalidLimitException limit) {
            return "ratelimit.limits." + limit.limit() + ".";
        }
        if (cause instanceof InvalidRuleException rule) {
            return "ratelimit.rules." + rule.rule() + ".";
        }
        return "";
    }
}
