package dev.ratelimit;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds limits by name. Safe for use by many threads. */
public interface Limits {

    /** The limit of that name as it is now, or {@code null}. */
    @Nullable
    Limit find(String name);

    Set<String> names();

    /** The limit of that name as it is now. */
    default Limit get(String name) {
        Limit limit = find(name);
        if (limit == null) {
            throw new UnknownLimitException(name, names());
        }
        return limit;
    }

    static Limits of(Limit... limits) {
        return of(Arrays.asList(limits));
    }

    /** Limits that never change; two of one name are refused. */
    static Limits of(Collection<Limit> limits) {
        Map<String, Limit> byName = new LinkedHashMap<>();
        for (Limit limit : limits) {
            if (byName.put(limit.name(), limit) != null) {
                throw new InvalidLimitException(
                        limit.name(), "limit name", limit.name(), "give each limit a name of its own");
            }
        }
        return new FixedLimits(Map.copyOf(byName));
    }
}
