package dev.ratelimit.monitor;

import dev.ratelimit.setting.InvalidSettingException;

/**
 * Thresholds of {@link Warnings}. Percentages are whole numbers.
 *
 * @param riseFactor the increase of violations or penalties that counts as a rise, as a multiple of the number before
 * @param violations the minimum number of violations of a limit in five minutes for a surge
 * @param penalties the minimum number of active penalties for a rise
 * @param offenders the number of subjects denied by one limit in a minute that is worth a warning
 * @param deniedPercent the share of denied requests at which a rule hurts ordinary users, if it denies many subjects
 * @param deniedSubjects the minimum number of denied subjects for that: fewer may be clients that misbehave
 * @param failedPercent the share of decisions without the store that is worth a warning
 * @param queuePercent the fill level of a queue that is worth a warning
 */
public record Thresholds(
        int riseFactor,
        int violations,
        int penalties,
        int offenders,
        int deniedPercent,
        int deniedSubjects,
        int failedPercent,
        int queuePercent) {

    /** The defaults. {@code docs/monitoring.md} gives the reasons. */
    public static final Thresholds DEFAULT = new Thresholds(3, 100, 20, 100, 20, 10, 1, 50);

    public Thresholds {
        require("rise-factor", riseFactor, 2, 1_000, "such as 3");
        require("violations", violations, 1, 1_000_000_000, "such as 100");
        require("penalties", penalties, 1, 1_000_000_000, "such as 20");
        require("offenders", offenders, 1, 1_000_000_000, "such as 100");
        require("denied-percent", deniedPercent, 1, 100, "such as 20");
        require("denied-subjects", deniedSubjects, 1, 1_000_000_000, "such as 10");
        require("failed-percent", failedPercent, 1, 100, "such as 1");
        require("queue-percent", queuePercent, 1, 100, "such as 50");
    }

    private static void require(String name, int value, int least, int most, String example) {
        if (value < least || value > most) {
            throw new InvalidSettingException(
                    name, value, "write a whole number from " + least + " to " + most + ", " + example);
        }
    }
}
