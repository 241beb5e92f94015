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
        long seconds = decision.retryAfterSeconds();
        if (decision.failure() instanceof UnknownLimitException lost) {
            return lost.getMessage() + "; rejected because on-failure is closed";
        }
        return tightest == null
                ? "store unavailable (" + decision.outcome() + "); rejected because on-failure is closed"
                : "limit '" + tightest.limit().name() + "' " + reason(tightest) + " '" + tightest.subject() + "'"
                        + (seconds == 0 ? "" : "; try again in " + seconds + " s");
    }

    private static String reason(LimitDecision denied) {
        if (denied.penaltyUntil() != null) {
            return "has a penalty for";
        }
        return denied.remaining() > 0 ? "has a min-interval that is not over for" : "is used up for";
    }

    public Decision decision() {
        return decision;
    }
}
