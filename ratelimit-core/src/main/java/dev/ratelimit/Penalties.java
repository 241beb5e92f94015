package dev.ratelimit;

import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.Require;
import java.time.Duration;
import java.util.List;

/**
 * The consequences of repeated violations of a limit.
 *
 * @param steps in ascending order of {@code after}; the highest that the count has reached applies
 * @param forgetAfter how long after the last violation the count starts anew
 */
public record Penalties(List<Step> steps, Duration forgetAfter) {

    public static final Duration DEFAULT_FORGET_AFTER = Duration.ofHours(24);

    /** A block without an end: two centuries, which are few enough to be counted in nanoseconds. */
    public static final Duration FOREVER = Duration.ofDays(73_050);

    public static final Penalties NONE = new Penalties(List.of(), DEFAULT_FORGET_AFTER);

    public Penalties {
        steps = List.copyOf(steps);
        Require.time("forget-after", forgetAfter);
        for (int i = 1; i < steps.size(); i++) {
            if (steps.get(i).after() <= steps.get(i - 1).after()) {
                throw new InvalidLimitException(
                        null,
                        "penalties[" + i + "].after",
                        steps.get(i).after(),
                        "write the steps in ascending order, each number of violations once");
            }
        }
    }

    /** After so many violations the subject is denied for so long, or {@link #FOREVER}. */
    public record Step(long after, Duration block) {
        public Step {
            Require.number("penalties.after", after);
            if (!block.equals(FOREVER)) {
                Require.time("penalties.block", block);
            }
        }
    }

    /** Whether a block that lasts so much longer has no end. */
    public static boolean isForever(Duration rest) {
        return rest.compareTo(Require.LONGEST) > 0;
    }

    public boolean isEmpty() {
        return steps.isEmpty();
    }

    /** How long a subject is denied whose count of violations has just reached {@code violations}; zero if not. */
    public Duration blockFor(long violations) {
        Duration block = Duration.ZERO;
        for (Step step : steps) {
            if (step.after() <= violations) {
                block = step.block();
            }
        }
        return block;
    }
}
