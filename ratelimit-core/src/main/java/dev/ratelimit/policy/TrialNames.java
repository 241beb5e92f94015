package dev.ratelimit.policy;

import dev.ratelimit.Limit;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The names that limits on trial count under: {@code api:candidate} for the candidate of a limit, {@code api:shadow} for a limit
 * of a shadow rule. No other class reads or writes these names; the views of the schema leave them out.
 */
public final class TrialNames {

    private static final String CANDIDATE = ":candidate";
    private static final String SHADOW = ":shadow";

    private TrialNames() {}

    /** The name of the candidate of that limit. */
    public static String candidateOf(String limit) {
        return limit + CANDIDATE;
    }

    /** The name under which shadow rules count on that limit. */
    static String shadowOf(String limit) {
        return limit + SHADOW;
    }

    /** The ends of all names of limits on trial. */
    public static List<String> endings() {
        return List.of(CANDIDATE, SHADOW);
    }

    /** Whether a limit on trial counts under that name. */
    public static boolean isTrial(String name) {
        return name.endsWith(CANDIDATE) || name.endsWith(SHADOW);
    }

    /**
     * The limit on trial that counts under a name.
     *
     * @param live finds the limit that it is tried beside
     * @return {@code null} if there is none now
     */
    public static @Nullable Limit find(String name, Function<String, @Nullable Limit> live) {
        if (name.endsWith(CANDIDATE)) {
            Limit limit = live.apply(without(name, CANDIDATE));
            return limit == null ? null : limit.trial();
        }
        if (name.endsWith(SHADOW)) {
            Limit limit = live.apply(without(name, SHADOW));
            return limit == null ? null : limit.renamed(name);
        }
        return null;
    }

    private static String without(String name, String end) {
        return name.substring(0, name.length() - end.length());
    }
}
