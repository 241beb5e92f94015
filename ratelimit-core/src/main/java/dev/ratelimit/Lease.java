package dev.ratelimit;

import dev.ratelimit.setting.InvalidLimitException;
import java.util.Locale;

/**
 * How many permits of a hot subject an instance takes from the store at once, to serve requests without asking it each
 * time. It changes speed, not the limit: no permit is served that was not taken, nor later than it
 * counts.
 *
 * @param permits how many; zero for none, {@link #AUTO} to let the instance find out
 */
public record Lease(long permits) {

    private static final long AUTOMATIC = -1;

    /** The most permits that may be taken at once. */
    public static final long MOST = 100_000;

    /** Every request asks the store. */
    public static final Lease NONE = new Lease(0);

    /** As many as the last lease was short of: more while it is used up at once, fewer when permits are left over. */
    public static final Lease AUTO = new Lease(AUTOMATIC);

    public Lease {
        if (permits < AUTOMATIC || permits > MOST) {
            throw new InvalidLimitException(null, "lease", permits, "write auto, or a whole number from 1 to " + MOST);
        }
    }

    static Lease parse(String written) {
        if (written.toLowerCase(Locale.ROOT).equals("auto")) {
            return AUTO;
        }
        try {
            long permits = Long.parseLong(written.replace("_", ""));
            if (permits > 0) {
                return new Lease(permits);
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new InvalidLimitException(null, "lease", written, "write auto, or a whole number from 1 to " + MOST);
    }

    public boolean isNone() {
        return permits == 0;
    }

    public boolean isAuto() {
        return permits == AUTOMATIC;
    }
}
