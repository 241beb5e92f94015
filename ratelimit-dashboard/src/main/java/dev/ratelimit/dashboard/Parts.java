package dev.ratelimit.dashboard;

import dev.ratelimit.operate.UnavailableException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The data of a screen. A part that cannot be read is missing, so that the rest is shown during an incident. */
final class Parts {

    private static final Logger log = LoggerFactory.getLogger(Parts.class);

    private final Map<String, @Nullable Object> all = new LinkedHashMap<>();
    private final Map<String, String> missing = new LinkedHashMap<>();

    Parts with(String name, @Nullable Object value) {
        all.put(name, value);
        return this;
    }

    /** Adds a part that may fail. */
    Parts with(String name, Supplier<?> part) {
        try {
            all.put(name, part.get());
        } catch (UnavailableException e) {
            missing.put(name, RefusedException.sentence(e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw e;
        } catch (RuntimeException e) {
            log.debug("Could not read {} for the dashboard", name, e);
            missing.put(name, "The database did not answer, so a part of this page is missing.");
        }
        return this;
    }

    Map<String, @Nullable Object> json() {
        all.put("missing", missing);
        return all;
    }
}
