package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Micros;

/**
 * Permits that were charged at one moment and are served later. At any moment as many of them may be served as a refund
 * would then give back: so serving is the same as taking the charge back and charging anew, and no more is admitted than
 * if each had been charged when it is served.
 *
 * <ul>
 *   <li>A permit of a window is of that window alone; in the next it would come on top of what that one grants.
 *   <li>Of a token bucket, as many as the bucket would still lack had only time passed since: what is beyond it would have
 *       run over. Of a leaky bucket, as many as would still be in it.
 * </ul>
 */
public final class Leased {

    private final long at;
    private final long endOfWindow;
    private final long units;
    private final long unitsOfOne;
    private final long unitsPerMicro;

    public Leased(Limit limit, Charge charge) {
        Algorithm algorithm = limit.algorithm();
        this.at = charge.at();
        if (algorithm instanceof Algorithm.TokenBucket bucket) {
            this.unitsOfOne = Micros.of(bucket.refill().per());
            this.unitsPerMicro = bucket.refill().permits();
            this.units = bucket.burst() * unitsOfOne - charge.tokens();
            this.endOfWindow = Long.MAX_VALUE;
        } else if (algorithm instanceof Algorithm.LeakyBucket bucket) {
            this.unitsOfOne = Micros.of(bucket.drain().per());
            this.unitsPerMicro = bucket.drain().permits();
            this.units = charge.tokens();
            this.endOfWindow = Long.MAX_VALUE;
        } else {
            State window = Meter.of(algorithm).roll(State.FRESH, charge.at());
            this.endOfWindow = window.windowStart() + window.windowSize();
            this.unitsOfOne = 1;
            this.unitsPerMicro = 0;
            this.units = charge.cost();
        }
    }

    /**
     * How many of the permits count at that moment.
     *
     * @param now the clock of the store; if it is not known exactly, rather too late than too early
     */
    public long counting(long now) {
        if (now >= endOfWindow) {
            return 0;
        }
        if (unitsPerMicro == 0) {
            return units;
        }
        long elapsed = Math.max(0, now - at);
        return elapsed >= Exact.ceilDiv(units, unitsPerMicro) ? 0 : (units - elapsed * unitsPerMicro) / unitsOfOne;
    }
}
