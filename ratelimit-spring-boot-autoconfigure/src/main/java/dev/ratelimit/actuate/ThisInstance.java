package dev.ratelimit.actuate;

import dev.ratelimit.engine.EngineStatus;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.monitor.Warning;
import dev.ratelimit.monitor.Warnings;
import dev.ratelimit.operate.InstanceStatus;
import dev.ratelimit.setting.Durations;
import dev.ratelimit.support.Keyword;
import dev.ratelimit.upkeep.Upkeep;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads the state of this instance from its limiter, its upkeep and its warnings. Waits for nothing. */
public final class ThisInstance implements InstanceStatus.Reader {

    private final String store;
    private final @Nullable StoreRateLimiter limiter;
    private final Supplier<InstanceStatus.@Nullable Pool> pool;
    private final @Nullable Upkeep upkeep;
    private final Supplier<@Nullable Warnings> warnings;

    /**
     * @param store the name of the store
     * @param limiter {@code null} if it is not ours
     * @param pool gives {@code null} if the limiter has no connections of its own
     * @param upkeep {@code null} if there is none
     * @param warnings gives {@code null} if there are none
     */
    public ThisInstance(
            String store,
            @Nullable StoreRateLimiter limiter,
            Supplier<InstanceStatus.@Nullable Pool> pool,
            @Nullable Upkeep upkeep,
            Supplier<@Nullable Warnings> warnings) {
        this.store = store;
        this.limiter = limiter;
        this.pool = pool;
        this.upkeep = upkeep;
        this.warnings = warnings;
    }

    @Override
    public InstanceStatus read() {
        EngineStatus engine = limiter == null ? null : limiter.status();
        Upkeep.LastRun lastRun = upkeep == null ? null : upkeep.lastRun();
        return new InstanceStatus(
                engine == null ? null : store(engine.store()),
                engine == null
                        ? null
                        : new InstanceStatus.Queue(
                                engine.queue().waiting(), engine.queue().capacity()),
                pool.get(),
                lastRun == null ? null : lastRun.at(),
                warnings());
    }

    private InstanceStatus.Store store(EngineStatus.Store state) {
        return new InstanceStatus.Store(
                store,
                state.available(),
                Keyword.of(state.circuit()),
                state.reason(),
                state.available()
                        ? null
                        : Durations.text(
                                Duration.ofSeconds(state.unavailableFor().toSeconds())));
    }

    private List<InstanceStatus.Warning> warnings() {
        Warnings known = warnings.get();
        return known == null
                ? List.of()
                : known.current().stream().map(ThisInstance::warning).toList();
    }

    private static InstanceStatus.Warning warning(Warning warning) {
        return new InstanceStatus.Warning(
                Keyword.of(warning.kind()), warning.limit(), warning.rule(), warning.sentence());
    }
}
