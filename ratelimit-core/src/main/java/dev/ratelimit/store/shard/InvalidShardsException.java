package dev.ratelimit.store.shard;

/** The configured shards do not agree with the lists that the databases have. */
public final class InvalidShardsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String advice;

    /**
     * @param advice what to write instead, and why
     */
    InvalidShardsException(String advice) {
        super("invalid shards; " + advice);
        this.advice = advice;
    }

    public String advice() {
        return advice;
    }
}
