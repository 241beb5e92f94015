package dev.ratelimit.startup;

import dev.ratelimit.annotation.RateLimited;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.AnnotationConfigurationException;

/**
 * Reports a {@link RateLimited} whose value and limit differ. They are one attribute, and Spring refuses two values of it as
 * soon as it reads the class.
 */
public final class TwoNamesFailureAnalyzer extends AbstractFailureAnalyzer<AnnotationConfigurationException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, AnnotationConfigurationException cause) {
        String message = String.valueOf(cause.getMessage());
        return message.contains(RateLimited.class.getName())
                ? new FailureAnalysis(
                        "Invalid @RateLimited annotation: " + message,
                        "Write one name of a limit: value and limit are the same attribute. For two limits, write two"
                                + " annotations.",
                        cause)
                : null;
    }
}
