package dev.ratelimit.admin;

import org.jspecify.annotations.Nullable;

/**
 * A stored row that cannot be right and is skipped.
 *
 * @param name of the limit or the rule; the user, the id of the API key
 * @param version of the limit or the rule; {@code null} for other rows
 * @param message what is wrong, with the value, and what to write instead
 */
public record Problem(String table, String name, @Nullable Integer version, String message) {

    @Override
    public String toString() {
        return table + ", " + name + (version == null ? "" : ", version " + version) + ": " + message;
    }
}
