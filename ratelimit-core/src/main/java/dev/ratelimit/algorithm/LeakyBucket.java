package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.LimitProperties;
import dev.ratelimit.Rate;
import dev.ratelimit.setting.Durations;
import dev.ratelimit.setting.Require;
import dev.ratelimit.support.Micros;
import java.math.BigInteger;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A bucket that drains at a constant rate; it starts empty. As a meter ({@code maxWait} zero) it denies a request that finds
 * no room. As a queue, it tells an admitted request how long to wait for its turn, at most {@code maxWait}. It is the token
 * bucket upside down: the level is water that drains, and a request pours in.
 */
public final class LeakyBucket extends BucketAlgorithm {

    static final AlgorithmType TYPE = new AlgorithmType("leaky-bucket", Count.Layout.BUCKET, LeakyBucket::read);

    private final Duration maxWait;
    private final long mostAhead;

    public LeakyBucket(long capacity, Rate drain, Duration maxWait) {
        super(TYPE, capacity + " at " + drain + ", max-wait " + Durations.text(maxWait), "capacity", capacity, drain);
        Require.timeOrZero("max-wait", maxWait);
        this.maxWait = maxWait;
        boolean waitIsLonger = Micros.of(maxWait) > full / unitsPerMicro;
        this.mostAhead = maxWait.isZero() || waitIsLonger ? full : Micros.of(maxWait) * unitsPerMicro;
    }

    /** A bucket as a meter: a request that finds no room is denied. */
    public LeakyBucket(long capacity, Rate drain) {
        this(capacity, drain, Duration.ZERO);
    }

    /** The queue in which exactly those requests have room whose turn comes within {@code maxWait}. */
    public static LeakyBucket queue(Rate drain, Duration maxWait) {
        Require.time("max-wait", maxWait);
        long per = Micros.of(drain.per());
        long most = Math.min(Require.MOST, MOST_UNITS / per);
        BigInteger ahead = BigInteger.valueOf(Micros.of(maxWait))
                .multiply(BigInteger.valueOf(drain.permits()))
                .divide(BigInteger.valueOf(per));
        return new LeakyBucket(ahead.min(BigInteger.valueOf(most - 1)).longValueExact() + 1, drain, maxWait);
    }

    static LeakyBucket read(LimitProperties properties) {
        Rate drain = properties.rate("drain");
        Duration maxWait = properties.has("max-wait") ? properties.time("max-wait") : Duration.ZERO;
        return !properties.has("capacity") && !maxWait.isZero()
                ? queue(drain, maxWait)
                : new LeakyBucket(properties.number("capacity"), drain, maxWait);
    }

    public Rate drain() {
        return rate;
    }

    public Duration maxWait() {
        return maxWait;
    }

    /** The most water, in units, that a request may find before it. */
    public long mostAhead() {
        return mostAhead;
    }

    @Override
    public boolean givesTurns() {
        return !maxWait.isZero();
    }

    @Override
    public String sentence() {
        return "Requests are served at " + rate.spoken() + ".";
    }

    @Override
    public @Nullable String leaseObstacle() {
        return givesTurns() ? "a leaky bucket with max-wait gives each request its own turn" : null;
    }

    @Override
    public Algorithm share(int instances) {
        return new LeakyBucket(Math.max(1, capacity / instances), rate.share(instances), maxWait);
    }

    @Override
    public Algorithm times(int factor) {
        return new LeakyBucket(capacityTimes(factor), rate.times(factor), maxWait);
    }

    @Override
    Count roll(Count stored, long last, long now) {
        return Count.bucket(
                now, unitsPerPermit, stored.isNone() ? 0 : Exact.leftAfter(water(stored), now - last, unitsPerMicro));
    }

    /** The water in the units of this limit, rounded up where the rate has changed. */
    private long water(Count count) {
        return count.size() == unitsPerPermit
                ? count.tokens()
                : Math.min(MOST, Exact.ceilingOfProduct(count.tokens(), unitsPerPermit, count.size()));
    }

    @Override
    long availableAt(Count count, long now, long cost) {
        long over = Math.max(count.tokens() + cost * unitsPerPermit - full, count.tokens() - mostAhead);
        return over <= 0 ? now : now + Exact.ceilDiv(over, unitsPerMicro);
    }

    @Override
    long delay(Count count) {
        return givesTurns() ? Exact.ceilDiv(count.tokens(), unitsPerMicro) : 0;
    }

    @Override
    Count charge(Count count, long now, long cost) {
        return Count.bucket(now, unitsPerPermit, count.tokens() + cost * unitsPerPermit);
    }

    /** A refund takes out the part of the charge that is still in the bucket. */
    @Override
    Count settle(Count count, long now, Charge charge, long cost) {
        long water = count.tokens();
        if (cost <= charge.cost()) {
            long left = Exact.leftAfter(charge.tokens(), now - charge.at(), unitsPerMicro);
            water = Math.max(0, water - Math.min(Exact.product(charge.cost() - cost, unitsPerPermit), left));
        } else {
            water = Math.min(MOST, water + (cost - charge.cost()) * unitsPerPermit);
        }
        return Count.bucket(now, unitsPerPermit, water);
    }

    @Override
    Count add(Count count, Count before, Count after) {
        long poured = Exact.scaled(after.tokens() - before.tokens(), unitsPerPermit, after.size());
        return Count.bucket(count.start(), unitsPerPermit, Math.max(0, Math.min(MOST, count.tokens() + poured)));
    }

    @Override
    Count known(Verdict verdict, long now) {
        return Count.bucket(now, unitsPerPermit, Math.max(0, verdict.tokens()));
    }

    @Override
    long remaining(Count count, long now) {
        long roomFor = (full - count.tokens()) / unitsPerPermit;
        if (givesTurns()) {
            long ahead = mostAhead - count.tokens();
            roomFor = Math.min(roomFor, ahead < 0 ? 0 : ahead / unitsPerPermit + 1);
        }
        return Math.max(0, roomFor);
    }

    @Override
    long resetAt(Count count, long now) {
        return now + Exact.ceilDiv(count.tokens(), unitsPerMicro);
    }

    @Override
    long servable(Charge charge, long now) {
        return Exact.leftAfter(charge.tokens(), now - charge.at(), unitsPerMicro) / unitsPerPermit;
    }
}
