package dev.ratelimit;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

record FixedLimits(Map<String, Limit> byName) implements Limits {

    @Override
    public @Nullable Limit find(String name) {
        return byName.get(name);
    }

    @Override
    public Set<String> names() {
        return byName.keySet();
    }
}
