package dev.ratelimit.monitor;

import dev.ratelimit.setting.InvalidSettingException;

/**
 * When {@link Warnings} speak. Percentages are whole numbers.
 *
 * @param riseFactor how many times as many violations or penalties as before are a rise
 * @param violations fewer violations of a limit in five minutes are no surge, however few there were before
 * @param penalties fewer active penalties are no rise
 * @param offenders so many different subjects that one limit denies in a minute are many
 * @param deniedPercent a rule that denies so much of its requests hurts ordinary users, if it denies many subjects
 * @param deniedSubjects so many different subjects are not only a few clients that misbehave
 * @param failedPercent so many decisions without the store are too many
 * @param queuePercent a queue that is so full is filling
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

    /** Those that {@code docs/monitoring.md} argues for. */
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
