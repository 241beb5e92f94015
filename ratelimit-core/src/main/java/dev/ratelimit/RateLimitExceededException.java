package dev.ratelimit;

/** A call was not allowed. Carries the decision. */
public final class RateLimitExceededException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Decision decision;

    public RateLimitExceededException(Decision decision) {
        super(message(decision));
        this.decision = decision;
    }

    private static String message(Decision decision) {
        LimitDecision tightest = decision.tightest();
        return tightest == null
                ? "store unavailable (" + decision.outcome() + "); rejected because on-failure is closed"
                : "limit '" + tightest.limit().name() + "' is used up for '" + tightest.subject() + "'; try again in "
                        + decision.retryAfterSeconds() + " s";
    }

    public Decision decision() {
        return decision;
    }
}
