package dev.ratelimit.redis;

/** Redis answers, or is configured, in a way that rate limits cannot be kept there. Trying again does not help. */
final class RedisRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String advice;

    /**
     * @param problem what is wrong, where, and with which value
     * @param advice what to do about it, in sentences
     */
    RedisRefusedException(String problem, String advice) {
        super(problem);
        this.advice = advice;
    }

    String advice() {
        return advice;
    }
}
