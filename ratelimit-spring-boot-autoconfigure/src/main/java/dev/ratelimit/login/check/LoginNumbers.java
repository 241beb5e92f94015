package dev.ratelimit.login.check;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import org.jspecify.annotations.Nullable;

/**
 * The limits of failed logins, as they are now. Without limits of their own, address and name have a multiple of the limit for
 * both together. So they do if their own limit was stored and no longer exists.
 *
 * @param limits finds limits by name
 * @param together the name of the limit by address and name together
 * @param address the name of the limit by address alone, or {@code null} for a multiple
 * @param name the name of the limit by name alone, {@link #NONE} for no such limit, or {@code null} for a multiple
 */
public record LoginNumbers(
        Limits limits,
        String together,
        @Nullable String address,
        @Nullable String name) {

    /** Stands for no limit by name. */
    public static final String NONE = "none";

    static final int TIMES_BY_ADDRESS = 10;
    static final int TIMES_BY_NAME = 20;

    /** Whether somebody has switched the limit off. */
    boolean isOff() {
        return limits.isOff(together);
    }

    Limit byBoth() {
        return limits.get(together);
    }

    Limit byAddress() {
        Limit own = address == null ? null : limits.find(address);
        return own == null ? derived(":address", TIMES_BY_ADDRESS) : own;
    }

    @Nullable
    Limit byName() {
        if (NONE.equals(name)) {
            return null;
        }
        Limit own = name == null ? null : limits.find(name);
        return own == null ? derived(":name", TIMES_BY_NAME) : own;
    }

    /** A limit that somebody has stored under that name goes before a multiple. */
    private Limit derived(String suffix, int factor) {
        Limit own = limits.find(together + suffix);
        return own != null ? own : byBoth().times(factor, together + suffix);
    }
}
