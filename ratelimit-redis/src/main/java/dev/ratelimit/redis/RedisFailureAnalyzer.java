package dev.ratelimit.redis;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Reports why Redis cannot keep rate limits. It goes before the analyzers of the starter, which know SQL databases only. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class RedisFailureAnalyzer implements FailureAnalyzer {

    private static final String NOT_REQUIRED =
            " To start without it, set ratelimit.store.required: false; ratelimit.on-failure then applies until Redis is available.";

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RedisRefusedException refused) {
                return analysis("Rate limits cannot be kept in Redis: ", cause, refused.advice());
            }
            if (cause instanceof RedisUnavailableException unavailable) {
                return analysis("The rate limit store cannot be opened: ", cause, unavailable.advice() + NOT_REQUIRED);
            }
        }
        return null;
    }

    private static FailureAnalysis analysis(String beginning, Throwable cause, String advice) {
        // Some errors of a server end with a stop, or with the arguments of a command and a space.
        String reason = String.valueOf(cause.getMessage()).strip();
        return new FailureAnalysis(beginning + reason + (reason.endsWith(".") ? "" : "."), advice, cause);
    }
}
