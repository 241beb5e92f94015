package dev.ratelimit.policy;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The limits that are in force whenever they are asked for. */
public final class LiveLimits implements Limits {

    private final Supplier<Limits> inForce;

    public LiveLimits(Supplier<Limits> inForce) {
        this.inForce = inForce;
    }

    @Override
    public @Nullable Limit find(String name) {
        return inForce.get().find(name);
    }

    @Override
    public @Nullable Limit find(String name, String tier) {
        return inForce.get().find(name, tier);
    }

    @Override
    public boolean variesByTier(String name) {
        return inForce.get().variesByTier(name);
    }

    @Override
    public boolean isCurrent(Limit limit) {
        return inForce.get().isCurrent(limit);
    }

    @Override
    public boolean isOff(String name) {
        return inForce.get().isOff(name);
    }

    @Override
    public boolean isOff() {
        return inForce.get().isOff();
    }

    @Override
    public Set<String> names() {
        return inForce.get().names();
    }
}
