package dev.ratelimit.policy;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The limits that are in force whenever they are asked for. */
public final class LiveLimits implements Limits {

    private final Supplier<Limits> inForce;
    private final Predicate<String> mayBeGivenBack;

    public LiveLimits(Supplier<Limits> inForce) {
        this(inForce, name -> inForce.get().mayBeGivenBack(name));
    }

    private LiveLimits(Supplier<Limits> inForce, Predicate<String> mayBeGivenBack) {
        this.inForce = inForce;
        this.mayBeGivenBack = mayBeGivenBack;
    }

    /** The limits of the policy in force. Its rules say whose charges may be given back. */
    public static LiveLimits of(Policies policies) {
        return new LiveLimits(
                () -> policies.current().limits(),
                name -> policies.current().rules().mayBeGivenBack(name));
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
    public boolean mayBeGivenBack(String name) {
        return mayBeGivenBack.test(name);
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
