package dev.ratelimit.operate;

import dev.ratelimit.admin.version.Version;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
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
        Authorship change) {

    /**
     * The author of a change.
     *
     * @param until when it expires, or {@code null}
     * @param reason {@code null} if none was given
     */
    public record Authorship(
            String by,
            Instant at,
            @Nullable Instant until,
            @Nullable String reason) {

        static Authorship of(Version<?> version) {
            return new Authorship(version.by(), version.at(), version.expiresAt(), version.reason());
        }
    }

    /**
     * The difference between two versions.
     *
     * @param from the number of a version; zero for the configuration
     * @param to the number of a version; zero for the configuration
     */
    public record Difference(String name, int from, int to, List<ChangedProperty> properties) {

        /** A property that differs; {@code null} where it is missing. */
        public record ChangedProperty(
                String name,
                @Nullable String before,
                @Nullable String after) {}

        static Difference of(String name, int from, Map<String, String> before, int to, Map<String, String> after) {
            TreeSet<String> all = new TreeSet<>(before.keySet());
            all.addAll(after.keySet());
            List<ChangedProperty> changed = new ArrayList<>();
            for (String property : all) {
                if (!Objects.equals(before.get(property), after.get(property))) {
                    changed.add(new ChangedProperty(property, before.get(property), after.get(property)));
                }
            }
            return new Difference(name, from, to, List.copyOf(changed));
        }
    }
}
