package dev.ratelimit.operate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The difference between two versions.
 *
 * @param from the number of a version; zero for the configuration
 * @param to the number of a version; zero for the configuration
 */
public record Difference(String name, int from, int to, List<ChangedProperty> properties) {

    /** A property that differs; {@code null} where it is missing. */
    public record ChangedProperty(
            String name, @Nullable String before, @Nullable String after) {}

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
