package dev.ratelimit.benchmark;

/**
 * A figure that has to be reached, and one that would be good to reach.
 *
 * @param atLeast whether more is better; else less is
 * @param mustHold {@code NaN} if there is no goal
 * @param stretch {@code NaN} if there is no further one
 * @param unit follows the figures
 */
record Goal(boolean atLeast, double mustHold, double stretch, String unit) {

    static final Goal NONE = new Goal(true, Double.NaN, Double.NaN, "");

    static Goal atLeast(double goal) {
        return new Goal(true, goal, Double.NaN, "");
    }

    static Goal atMost(double goal) {
        return new Goal(false, goal, Double.NaN, "");
    }

    Goal stretch(double further) {
        return new Goal(atLeast, mustHold, further, unit);
    }

    Goal in(String unit) {
        return new Goal(atLeast, mustHold, stretch, unit);
    }

    boolean isSet() {
        return !Double.isNaN(mustHold);
    }

    private boolean isReached(double goal, double value) {
        return Double.isNaN(goal) || (atLeast ? value >= goal : value <= goal);
    }

    boolean isMet(double value) {
        return isReached(mustHold, value);
    }

    /** The goal, and whether the value falls short of it. */
    String judge(double value) {
        if (!isSet()) {
            return "";
        }
        String goal = text(mustHold) + (Double.isNaN(stretch) ? "" : ", stretch " + text(stretch));
        if (!isMet(value)) {
            return goal + " (not met)";
        }
        return isReached(stretch, value) ? goal : goal + " (stretch not met)";
    }

    private String text(double goal) {
        String number = goal == Math.rint(goal) ? Long.toString((long) goal) : Double.toString(goal);
        return (atLeast ? "≥ " : "≤ ") + number + unit;
    }
}
