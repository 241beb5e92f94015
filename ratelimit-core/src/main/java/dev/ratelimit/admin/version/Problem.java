package dev.ratelimit.admin.version;

import org.jspecify.annotations.Nullable;

/**
 * An invalid stored row, which is skipped.
 *
 * @param name the name of the limit or the rule; the user; the id of the API key
 * @param version the version of the limit or the rule; {@code null} for other rows
 * @param message the invalid value and the remedy
 */
public record Problem(String table, String name, @Nullable Integer version, String message) {

    @Override
    public String toString() {
        return table + ", " + name + (version == null ? "" : ", version " + version) + ": " + message;
    }
}
