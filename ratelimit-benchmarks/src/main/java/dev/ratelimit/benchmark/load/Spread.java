package dev.ratelimit.benchmark.load;

import java.util.Arrays;

/**
 * A figure over several turns: its median, which is judged, and how far the turns are apart. All are {@code NaN} without
 * turns.
 */
public record Spread(double median, double least, double most) {

    public static final Spread UNKNOWN = new Spread(Double.NaN, Double.NaN, Double.NaN);

    public static Spread of(double... turns) {
        if (turns.length == 0) {
            return UNKNOWN;
        }
        double[] sorted = turns.clone();
        Arrays.sort(sorted);
        double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
        return new Spread(median, sorted[0], sorted[sorted.length - 1]);
    }

    /**
     * The ratios of two figures. Each is of one turn: a moment that slows both of them down leaves their ratio as it is.
     *
     * @param of one figure, turn by turn
     * @param to the other, in the same turns
     */
    public static Spread ofRatios(double[] of, double[] to) {
        if (of.length != to.length) {
            throw new IllegalArgumentException(of.length + " turns cannot be paired with " + to.length);
        }
        double[] ratios = new double[of.length];
        Arrays.setAll(ratios, turn -> of[turn] / to[turn]);
        return of(ratios);
    }

    public static double median(double... turns) {
        return of(turns).median;
    }

    public boolean isKnown() {
        return !Double.isNaN(median);
    }

    /** How far the turns are apart, as a part of their median. */
    public double width() {
        return (most - least) / median;
    }
}
