package dev.ratelimit;

import dev.ratelimit.setting.InvalidLimitException;
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

    /** The limit of that name as it is now for callers of a tier, or {@code null}. */
    default @Nullable Limit find(String name, String tier) {
        return find(name);
    }

    /** Whether the limit is still what its name stands for; one that was given for a single call always is. */
    default boolean isCurrent(Limit limit) {
        Limit named = find(limit.name());
        return named == null || named.equals(limit);
    }

    /** Whether callers of different tiers may have different limits of that name. */
    default boolean variesByTier(String name) {
        return false;
    }

    /**
     * Whether a charge on the limit of that name may be given back by any instance. Then nobody remembers a denial for more
     * than a second.
     */
    default boolean mayBeGivenBack(String name) {
        return false;
    }

    /** Whether the limit of that name is switched off, so that it is neither asked nor charged. */
    default boolean isOff(String name) {
        return false;
    }

    /** Whether all limits are switched off: every request passes. */
    default boolean isOff() {
        return false;
    }

    /** The limit of that name as it is now. */
    default Limit get(String name) {
        return get(name, null);
    }

    /** The limit of that name as it is now for callers of the tier, if they have one. */
    default Limit get(String name, @Nullable String tier) {
        Limit limit = tier == null ? find(name) : find(name, tier);
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
                        limit.name(), InvalidLimitException.NAME, limit.name(), "give each limit a name of its own");
            }
        }
        record Fixed(Map<String, Limit> byName) implements Limits {

            @Override
            public @Nullable Limit find(String name) {
                return byName.get(name);
            }

            @Override
            public Set<String> names() {
                return byName.keySet();
            }
        }
        return new Fixed(Map.copyOf(byName));
    }
}
