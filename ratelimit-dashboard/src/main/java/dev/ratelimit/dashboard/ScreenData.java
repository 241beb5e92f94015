package dev.ratelimit.dashboard;

import dev.ratelimit.operate.UnavailableException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data of a screen. A part that cannot be read is missing, so that the rest is shown during an incident. A database that is gone
 * is not waited for again and again: after a few seconds of failures, the parts that may fail are not tried any more.
 */
final class ScreenData {

    private static final Logger log = LoggerFactory.getLogger(ScreenData.class);

    private static final String MISSING = "The database did not answer, so a part of this page is missing.";
    private static final long MOST_NANOS_OF_FAILURES = TimeUnit.SECONDS.toNanos(3);

    private long nanosOfFailures;
    private final Map<String, @Nullable Object> all = new LinkedHashMap<>();
    private final Map<String, String> missing = new LinkedHashMap<>();

    ScreenData with(String name, @Nullable Object value) {
        all.put(name, value);
        return this;
    }

    /** Adds a part that may fail. */
    ScreenData with(String name, Supplier<?> part) {
        if (nanosOfFailures > MOST_NANOS_OF_FAILURES) {
            missing.put(name, MISSING);
            return this;
        }
        long start = System.nanoTime();
        try {
            all.put(name, part.get());
        } catch (UnavailableException e) {
            missing.put(name, RefusedException.sentence(e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw e;
        } catch (RuntimeException e) {
            log.debug("Could not read {} for the dashboard", name, e);
            missing.put(name, MISSING);
            nanosOfFailures += System.nanoTime() - start;
        }
        return this;
    }

    Map<String, @Nullable Object> json() {
        all.put("missing", missing);
        return all;
    }
}
