package dev.ratelimit;

import java.time.Duration;
import java.util.List;

/**
 * The consequences of repeated violations of a limit.
 *
 * @param tiers in ascending order of {@code after}; the highest that the count has reached applies
 * @param forgetAfter how long after the last violation the count starts anew
 */
public record Penalties(List<Tier> tiers, Duration forgetAfter) {

    public static final Duration DEFAULT_FORGET_AFTER = Duration.ofHours(24);

    public static final Penalties NONE = new Penalties(List.of(), DEFAULT_FORGET_AFTER);

    public Penalties {
        tiers = List.copyOf(tiers);
        Require.time("forget-after", forgetAfter);
        for (int i = 1; i < tiers.size(); i++) {
            if (tiers.get(i).after() <= tiers.get(i - 1).after()) {
                throw new InvalidLimitException(
                        null,
                        "penalties[" + i + "].after",
                        tiers.get(i).after(),
                        "write the tiers in ascending order, each number of violations once");
            }
        }
    }

    /** After so many violations the subject is denied for so long. */
    public record Tier(long after, Duration block) {
        public Tier {
            Require.number("penalties.after", after);
            Require.time("penalties.block", block);
        }
    }

    public boolean isEmpty() {
        return tiers.isEmpty();
    }

    /** How long a subject is denied whose count of violations has just reached {@code violations}; zero if not. */
    public Duration blockFor(long violations) {
        Duration block = Duration.ZERO;
        for (Tier tier : tiers) {
            if (tier.after() <= violations) {
                block = tier.block();
            }
        }
        return block;
    }
}
