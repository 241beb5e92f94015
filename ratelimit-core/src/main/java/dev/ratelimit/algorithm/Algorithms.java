package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitProperties;
import dev.ratelimit.Rate;
import dev.ratelimit.Window;
import dev.ratelimit.setting.InvalidLimitException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The list of algorithms. A new one is added here, and nowhere else. */
public final class Algorithms {

    private static final List<AlgorithmType> ALL =
            List.of(FixedWindow.TYPE, SlidingWindow.TYPE, SlidingLog.TYPE, TokenBucket.TYPE, LeakyBucket.TYPE);

    private Algorithms() {}

    /** The names, as in configuration. */
    public static List<String> names() {
        return ALL.stream().map(AlgorithmType::name).toList();
    }

    /**
     * Reads a limit from configuration. Properties of every limit are {@code algorithm}, {@code cost},
     * {@code min-interval}, {@code penalties} ({@code 1 -> 1m, 3 -> 5m}), {@code forget-after} and {@code lease}. The
     * algorithm reads its own beside them.
     */
    public static Limit limit(String name, Map<String, String> properties) {
        return LimitProperties.limit(name, properties, Algorithms::read);
    }

    private static Algorithm read(LimitProperties properties) {
        String advice = "write one of " + String.join(", ", names());
        String written = properties.text("algorithm", advice);
        AlgorithmType type = find(written.toLowerCase(Locale.ROOT).replace('_', '-'));
        if (type == null) {
            throw new InvalidLimitException(null, "algorithm", written, advice);
        }
        return type.reader().apply(properties);
    }

    /** A quota: at most that number of requests in each window. */
    public static Algorithm atMost(long requests, Window window) {
        return new FixedWindow(requests, window);
    }

    /** A burst of requests, refilled at a rate. */
    public static Algorithm burst(long requests, Rate refill) {
        return new TokenBucket(requests, refill);
    }

    /** Which numbers of its count a stored state uses; all of them if the algorithm is not known here. */
    public static Count.@Nullable Layout layoutOf(String algorithm) {
        AlgorithmType type = find(algorithm);
        return type == null ? null : type.layout();
    }

    private static @Nullable AlgorithmType find(String name) {
        for (AlgorithmType type : ALL) {
            if (type.name().equals(name)) {
                return type;
            }
        }
        return null;
    }
}
