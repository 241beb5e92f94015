package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.LimitProperties;
import dev.ratelimit.Rate;

/**
 * A bucket of {@code burst} tokens, refilled continuously; it starts full. The level is the tokens that it holds.
 */
public final class TokenBucket extends BucketAlgorithm {

    static final AlgorithmType TYPE = new AlgorithmType("token-bucket", Count.Layout.BUCKET, TokenBucket::read);

    public TokenBucket(long burst, Rate refill) {
        super(TYPE, burst + " at " + refill, "burst", burst, refill);
    }

    static TokenBucket read(LimitProperties properties) {
        return new TokenBucket(properties.number("burst"), properties.rate("refill"));
    }

    public long burst() {
        return capacity;
    }

    public Rate refill() {
        return rate;
    }

    @Override
    public String sentence() {
        return "Tokens refill at " + rate.spoken() + ".";
    }

    @Override
    public Algorithm share(int instances) {
        return new TokenBucket(Math.max(1, capacity / instances), rate.share(instances));
    }

    @Override
    public Algorithm times(int factor) {
        return new TokenBucket(capacityTimes(factor), rate.times(factor));
    }

    @Override
    Count roll(Count stored, long last, long now) {
        return Count.bucket(now, unitsPerPermit, stored.isNone() ? full : refilled(level(stored), now - last));
    }

    /** The level in the units of this limit, rounded down where the rate has changed. */
    private long level(Count count) {
        if (count.size() == unitsPerPermit) {
            return Math.min(full, count.tokens());
        }
        return count.tokens() >= 0
                ? Math.min(full, Exact.floorOfProduct(count.tokens(), unitsPerPermit, count.size()))
                : -Math.min(MOST, Exact.ceilingOfProduct(-count.tokens(), unitsPerPermit, count.size()));
    }

    private long refilled(long level, long elapsed) {
        return elapsed >= Exact.ceilDiv(full - level, unitsPerMicro) ? full : level + elapsed * unitsPerMicro;
    }

    @Override
    long availableAt(Count count, long now, long cost) {
        long missing = cost * unitsPerPermit - count.tokens();
        return missing <= 0 ? now : now + Exact.ceilDiv(missing, unitsPerMicro);
    }

    @Override
    Count charge(Count count, long now, long cost) {
        return Count.bucket(now, unitsPerPermit, count.tokens() - cost * unitsPerPermit);
    }

    /**
     * A refund gives back the part of the charge that the bucket still lacks. Without the charge, the bucket would have
     * run over as soon as it was full. That part follows from the level after the charge and the time since then.
     */
    @Override
    Count settle(Count count, long now, Charge charge, long cost) {
        long level = count.tokens();
        if (cost <= charge.cost()) {
            long lacking = full - refilled(charge.tokens(), Math.max(0, now - charge.at()));
            level = Math.min(full, level + Math.min(Exact.product(charge.cost() - cost, unitsPerPermit), lacking));
        } else {
            level = Math.max(-MOST, level - (cost - charge.cost()) * unitsPerPermit);
        }
        return Count.bucket(now, unitsPerPermit, level);
    }

    @Override
    Count add(Count count, Count before, Count after) {
        long taken = Exact.scaled(before.tokens() - after.tokens(), unitsPerPermit, after.size());
        return Count.bucket(count.start(), unitsPerPermit, Math.max(-MOST, Math.min(full, count.tokens() - taken)));
    }

    @Override
    Count known(Verdict verdict, long now) {
        return Count.bucket(now, unitsPerPermit, Math.min(full, verdict.tokens()));
    }

    @Override
    long remaining(Count count, long now) {
        return Math.max(0, count.tokens() / unitsPerPermit);
    }

    @Override
    long resetAt(Count count, long now) {
        return now + Exact.ceilDiv(full - count.tokens(), unitsPerMicro);
    }

    @Override
    long servable(Charge charge, long now) {
        return Exact.leftAfter(full - charge.tokens(), now - charge.at(), unitsPerMicro) / unitsPerPermit;
    }
}
