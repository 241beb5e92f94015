package dev.ratelimit.data;

import dev.ratelimit.admin.version.EffectivePolicy;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Account;
import dev.ratelimit.support.Listeners;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Finds the differences between two states of the policy, and tells listeners. The state at startup is no difference. */
final class ChangeNews {

    private final Listeners<ChangeListener> listeners;
    private final InstantSource clock;
    private boolean started;

    ChangeNews(Listeners<ChangeListener> listeners, InstantSource clock) {
        this.listeners = listeners;
        this.clock = clock;
    }

    /** Starts notifying listeners of differences. */
    void start() {
        started = true;
    }

    void compared(EffectivePolicy before, EffectivePolicy after) {
        if (started) {
            compared(
                    before.limits(),
                    after.limits(),
                    (name, version) -> listeners.tell(listener -> listener.limitChanged(name, version)));
            compared(
                    before.rules(),
                    after.rules(),
                    (name, version) -> listeners.tell(listener -> listener.ruleChanged(name, version)));
        }
    }

    private static <T> void compared(
            Map<String, Version<T>> before,
            Map<String, Version<T>> after,
            BiConsumer<String, @Nullable Version<T>> changed) {
        TreeSet<String> names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        for (String name : names) {
            Version<T> was = before.get(name);
            Version<T> is = after.get(name);
            if (version(was) != version(is)) {
                changed.accept(name, is);
            }
        }
    }

    /** Returns 0 for a configured limit or rule. */
    private static int version(@Nullable Version<?> stored) {
        return stored == null ? 0 : stored.number();
    }

    void compared(String user, @Nullable Account before, @Nullable Account after) {
        if (!started) {
            return;
        }
        Instant was = blockedUntil(before);
        Instant is = blockedUntil(after);
        if (after != null && is != null && !is.equals(was)) {
            listeners.tell(listener -> listener.userBlocked(after));
        } else if (was != null && !Objects.equals(was, is)) {
            listeners.tell(listener -> listener.userUnblocked(user));
        }
    }

    private @Nullable Instant blockedUntil(@Nullable Account account) {
        return account == null ? null : account.blockedUntil(clock.instant());
    }
}
