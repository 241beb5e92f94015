package dev.ratelimit.redis;

import dev.ratelimit.store.LimitStoreException;

/** Redis does not answer now, or not as it will. */
final class RedisUnavailableException extends LimitStoreException {

    private static final long serialVersionUID = 1L;

    private final String advice;

    /**
     * @param advice what to do about it, in sentences
     */
    RedisUnavailableException(String message, String advice, Throwable cause) {
        super(message, cause);
        this.advice = advice;
    }

    String advice() {
        return advice;
    }
}
