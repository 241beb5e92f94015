package dev.ratelimit.metrics;

import dev.ratelimit.connection.PoolStatus;
import dev.ratelimit.engine.EngineStatus;
import dev.ratelimit.engine.EngineStatus.Cache;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The store, the queue, the caches and the connections of the limiter. Reading them takes no time of requests. */
public final class LimiterMeters implements MeterBinder {

    private final Supplier<EngineStatus> engine;
    private final boolean hasPool;
    private final Supplier<@Nullable PoolStatus> pool;
    private final LongSupplier droppedEvents;

    /**
     * @param hasPool whether the limiter has connections of its own, or may have them later
     * @param pool their use; {@code null} while there are none
     * @param droppedEvents how many application events were dropped since the start
     */
    public LimiterMeters(
            Supplier<EngineStatus> engine,
            boolean hasPool,
            Supplier<@Nullable PoolStatus> pool,
            LongSupplier droppedEvents) {
        this.engine = engine;
        this.hasPool = hasPool;
        this.pool = pool;
        this.droppedEvents = droppedEvents;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        bindStore(registry);
        bindQueue(registry);
        bindCache(registry, "denials", EngineStatus::denials);
        bindCache(registry, "leases", EngineStatus::leases);
        if (hasPool) {
            bindPool(registry);
        }
        FunctionCounter.builder("ratelimit.events.dropped", droppedEvents, LongSupplier::getAsLong)
                .description("Application events that were dropped since listeners were too slow")
                .register(registry);
    }

    private void bindStore(MeterRegistry registry) {
        gauge(
                registry,
                "ratelimit.store.available",
                "1 if the store decides in all its parts, 0 if on-failure does",
                status -> status.store().available() ? 1 : 0);
        gauge(
                registry,
                "ratelimit.circuit.open",
                "How many parts of the store requests do not ask, since they have failed; a store without parts is one",
                status -> status.store().openParts());
        FunctionTimer.builder(
                        "ratelimit.store.calls",
                        engine,
                        status -> status.get().calls().count(),
                        status -> status.get().calls().took().toNanos(),
                        TimeUnit.NANOSECONDS)
                .description("Calls of the store, each for one group of requests")
                .register(registry);
        FunctionCounter.builder(
                        "ratelimit.store.calls.requests",
                        engine,
                        status -> status.get().calls().requests())
                .description("Requests in the calls of the store; divided by the calls, the size of a group")
                .register(registry);
    }

    private void bindQueue(MeterRegistry registry) {
        gauge(
                registry,
                "ratelimit.queue.waiting",
                "Requests that wait for the store",
                status -> status.queue().waiting());
        gauge(
                registry,
                "ratelimit.queue.capacity",
                "How many requests may wait for the store",
                status -> status.queue().capacity());
        gauge(
                registry,
                "ratelimit.queue.groups",
                "Groups of requests that are at the store",
                status -> status.queue().groups());
    }

    private void bindCache(MeterRegistry registry, String name, Function<EngineStatus, Cache> cache) {
        countCached(registry, name, "hit", status -> cache.apply(status).hits());
        countCached(registry, name, "miss", status -> cache.apply(status).misses());
        Gauge.builder(
                        "ratelimit.cache.size",
                        engine,
                        status -> cache.apply(status.get()).size())
                .description("Subjects that the cache holds")
                .tag("cache", name)
                .register(registry);
    }

    private void countCached(MeterRegistry registry, String name, String result, ToDoubleFunction<EngineStatus> count) {
        FunctionCounter.builder("ratelimit.cache.requests", engine, status -> count.applyAsDouble(status.get()))
                .description("Requests that a cache was asked for, instead of the store")
                .tag("cache", name)
                .tag("result", result)
                .register(registry);
    }

    private void bindPool(MeterRegistry registry) {
        connections(registry, "active", PoolStatus::active);
        connections(registry, "idle", PoolStatus::idle);
        Gauge.builder("ratelimit.pool.waiting", () -> of(PoolStatus::waiting))
                .description("Threads that wait for a connection of the limiter")
                .register(registry);
        Gauge.builder("ratelimit.pool.capacity", () -> of(PoolStatus::capacity))
                .description("How many connections the limiter may have")
                .register(registry);
    }

    private void connections(MeterRegistry registry, String state, ToDoubleFunction<PoolStatus> value) {
        Gauge.builder("ratelimit.pool.connections", () -> of(value))
                .description("Connections of the limiter to its database")
                .tag("state", state)
                .register(registry);
    }

    private double of(ToDoubleFunction<PoolStatus> value) {
        PoolStatus status = pool.get();
        return status == null ? 0 : value.applyAsDouble(status);
    }

    private void gauge(MeterRegistry registry, String name, String description, ToDoubleFunction<EngineStatus> value) {
        Gauge.builder(name, engine, status -> value.applyAsDouble(status.get()))
                .description(description)
                .register(registry);
    }
}
