package dev.ratelimit.autoconfigure;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.rule.Policies;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/** The limits of the policy in force. */
final class LiveLimits implements Limits {

    private final Supplier<Supplier<Limits>> current;

    /**
     * @param configured the limits, if there are no policies
     */
    LiveLimits(ObjectProvider<Policies> policies, Limits configured) {
        this.current = SingletonSupplier.of(() -> {
            Policies found = policies.getIfAvailable();
            return found == null ? () -> configured : () -> found.current().limits();
        });
    }

    private Limits current() {
        return current.get().get();
    }

    @Override
    public @Nullable Limit find(String name) {
        return current().find(name);
    }

    @Override
    public @Nullable Limit find(String name, String tier) {
        return current().find(name, tier);
    }

    @Override
    public boolean variesByTier(String name) {
        return current().variesByTier(name);
    }

    @Override
    public boolean isCurrent(Limit limit) {
        return current().isCurrent(limit);
    }

    @Override
    public Set<String> names() {
        return current().names();
    }
}
