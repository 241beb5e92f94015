package dev.ratelimit;

import dev.ratelimit.setting.Durations;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.Require;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A named set of numbers for one algorithm, with the cost of a request, the least time between two requests, and the penalties
 * for repeated violations. An invalid limit cannot be built: {@link InvalidLimitException}.
 *
 * <pre>{@code
 * Limit.named("login")
 *     .algorithm(Algorithms.atMost(5, Window.of(Duration.ofMinutes(1))))
 *     .penalty(1, Duration.ofMinutes(5))
 *     .build();
 * }</pre>
 *
 * @param cost the charge for a request that does not set its own
 * @param minInterval the least time between two allowed requests of a subject; zero for none
 * @param retryAfter the least retry-after of a request that this limit denies; zero for none
 * @param lease how many permits an instance takes at once
 * @param trial numbers that are tried beside these, under a name of their own, or {@code null}: they count and are
 *     reported, but never deny. Two limits that differ only in lease and trial are equal, since these change neither
 *     decisions nor stored state
 */
public record Limit(
        String name,
        Algorithm algorithm,
        long cost,
        Duration minInterval,
        Penalties penalties,
        Duration retryAfter,
        Lease lease,
        @Nullable Limit trial) {

    /** A number that is counted towards and never reached. */
    public static final long UNRESTRICTED = Require.MOST;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}");

    public Limit {
        if (!NAME.matcher(name).matches()) {
            throw new InvalidLimitException(
                    null,
                    InvalidLimitException.NAME,
                    name,
                    "write 1 to 100 letters, digits, '.', '_', ':', '/' or '-', a letter or digit first");
        }
        try {
            Require.number("cost", cost);
            Require.timeOrZero("min-interval", minInterval);
            Require.timeOrZero("retry-after", retryAfter);
            if (cost > algorithm.capacity()) {
                throw new InvalidLimitException(
                        null,
                        "cost",
                        cost,
                        "write at most " + algorithm.capacity() + ", all that this limit can grant");
            }
            if (algorithm.givesTurns() && !minInterval.isZero()) {
                throw new InvalidLimitException(
                        null,
                        "min-interval",
                        Durations.text(minInterval),
                        "leave it out: a leaky bucket with max-wait spaces its requests by drain");
            }
            if (!lease.isNone()) {
                requireLeasable(algorithm, minInterval, penalties);
            }
        } catch (InvalidLimitException e) {
            throw e.in(name);
        }
    }

    /** Where the moment of each request matters, permits cannot be taken before it. */
    private static void requireLeasable(Algorithm algorithm, Duration minInterval, Penalties penalties) {
        String reason = algorithm.leaseObstacle();
        if (reason != null) {
            // the algorithm says it
        } else if (!minInterval.isZero()) {
            reason = "min-interval looks at the moment of each request";
        } else if (!penalties.isEmpty()) {
            reason = "penalties count each request that is denied";
        }
        if (reason != null) {
            throw new InvalidLimitException(null, "lease", "set", "leave it out: " + reason);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof Limit limit
                        && name.equals(limit.name)
                        && cost == limit.cost
                        && algorithm.equals(limit.algorithm)
                        && minInterval.equals(limit.minInterval)
                        && penalties.equals(limit.penalties)
                        && retryAfter.equals(limit.retryAfter));
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, algorithm, cost);
    }

    /** Starts a limit; the algorithm comes next. */
    public static Builder named(String name) {
        return new Builder(name);
    }

    /** The same limit, with numbers that are tried beside its own. */
    public Limit withTrial(@Nullable Limit onTrial) {
        return new Limit(name, algorithm, cost, minInterval, penalties, retryAfter, lease, onTrial);
    }

    /** A limit of the same name and window whose number is never reached, to read its count. */
    public Limit unrestricted() {
        return with(name, algorithm.unrestricted(), cost, penalties);
    }

    /** The same numbers under another name, and so with counts of their own. */
    public Limit renamed(String other) {
        return with(other, algorithm, cost, penalties);
    }

    /** A looser limit of another name: so many times as much in the same time, without penalties and least intervals. */
    public Limit times(int factor, String other) {
        return new Limit(
                other, algorithm.times(factor), cost, Duration.ZERO, Penalties.NONE, retryAfter, Lease.NONE, null);
    }

    /** The share of one instance of so many, under the same name. */
    public Limit share(int instances) {
        if (instances == 1) {
            return this;
        }
        Algorithm share = algorithm.share(instances);
        return with(name, share, Math.min(cost, share.capacity()), penalties);
    }

    /** The same limit without penalties and lease: for a count that is kept for a short time. */
    public Limit withoutPenalties() {
        return with(name, algorithm, cost, Penalties.NONE);
    }

    private Limit with(String otherName, Algorithm other, long otherCost, Penalties otherPenalties) {
        return new Limit(otherName, other, otherCost, minInterval, otherPenalties, retryAfter, Lease.NONE, null);
    }

    /** The most that the limit can grant: the number that clients see as the limit. */
    public long capacity() {
        return algorithm.capacity();
    }

    public boolean hasMinInterval() {
        return !minInterval.isZero();
    }

    /** Builds a limit step by step. Not thread-safe. */
    public static final class Builder {

        private final String name;
        private @Nullable Algorithm algorithm;
        private long cost = 1;
        private Duration minInterval = Duration.ZERO;
        private final List<Penalties.Step> steps = new ArrayList<>();
        private Duration forgetAfter = Penalties.DEFAULT_FORGET_AFTER;
        private Duration retryAfter = Duration.ZERO;
        private Lease lease = Lease.NONE;

        private Builder(String name) {
            this.name = name;
        }

        public Builder algorithm(Algorithm algorithm) {
            this.algorithm = algorithm;
            return this;
        }

        /** The same; an invalid number is reported with the name of this limit. */
        public Builder algorithm(Supplier<? extends Algorithm> algorithm) {
            return algorithm(checked(algorithm));
        }

        public Builder cost(long cost) {
            this.cost = cost;
            return this;
        }

        public Builder minInterval(Duration minInterval) {
            this.minInterval = minInterval;
            return this;
        }

        /** Adds a step: after so many violations the subject is denied for so long, or {@link Penalties#FOREVER}. */
        public Builder penalty(long after, Duration block) {
            steps.add(checked(() -> new Penalties.Step(after, block)));
            return this;
        }

        public Builder forgetAfter(Duration forgetAfter) {
            this.forgetAfter = forgetAfter;
            return this;
        }

        /** The least retry-after of a request that this limit denies. */
        public Builder retryAfter(Duration least) {
            this.retryAfter = least;
            return this;
        }

        /** Lets an instance take so many permits of a hot subject at once. */
        public Builder lease(Lease lease) {
            this.lease = lease;
            return this;
        }

        public Limit build() {
            Algorithm chosen =
                    checked(() -> Require.present("algorithm", algorithm, "choose one of dev.ratelimit.algorithm"));
            Penalties penalties = checked(() -> new Penalties(steps, forgetAfter));
            return new Limit(name, chosen, cost, minInterval, penalties, retryAfter, lease, null);
        }

        /** Adds the name of this limit to the exception of an invalid part. */
        private <T> T checked(Supplier<? extends T> part) {
            try {
                return part.get();
            } catch (InvalidLimitException e) {
                throw e.in(name);
            }
        }
    }
}
