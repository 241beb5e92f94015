package dev.ratelimit.operate;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A stored version of a limit or a rule.
 *
 * @param state {@code set}, {@code disabled}, {@code removed} or {@code broken}
 * @param inForce whether it is the one that applies
 * @param properties empty if it has none
 * @param problem why it is broken, or {@code null}
 */
public record VersionView(
        String name,
        int version,
        String state,
        boolean inForce,
        Map<String, String> properties,
        @Nullable String problem,
        Authorship change) {}
