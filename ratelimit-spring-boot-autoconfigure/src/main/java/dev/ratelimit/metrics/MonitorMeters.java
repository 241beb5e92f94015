package dev.ratelimit.metrics;

import dev.ratelimit.monitor.Monitor;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;

/** Active penalties and denied subjects, by limit. The numbers are those of the monitor: nothing is read for a scrape. */
public final class MonitorMeters implements MeterBinder {

    private final Monitor monitor;
    private final List<Gauges> registries = new CopyOnWriteArrayList<>();

    public MonitorMeters(Monitor monitor) {
        this.monitor = monitor;
        monitor.afterEachTick(() -> registries.forEach(this::update));
    }

    private record Gauges(MultiGauge penalties, MultiGauge subjects, Set<String> withPenalties) {}

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauges gauges = new Gauges(
                MultiGauge.builder("ratelimit.penalties.active")
                        .description("Penalties that are not over; all instances of a store have the same")
                        .register(registry),
                MultiGauge.builder("ratelimit.denied.subjects")
                        .description("About how many different subjects were denied in the last minute")
                        .register(registry),
                new TreeSet<>());
        registries.add(gauges);
        update(gauges);
    }

    /** A limit whose penalties are over stays, with zero: a gap would look like a scrape that failed. */
    private void update(Gauges gauges) {
        synchronized (gauges) {
            gauges.withPenalties().addAll(monitor.activePenalties().keySet());
            gauges.penalties()
                    .register(gauges.withPenalties().stream()
                            .map(limit -> Row.of(
                                    Tags.of("limit", limit),
                                    monitor,
                                    watched -> watched.activePenalties().getOrDefault(limit, 0L)))
                            .toList());
            gauges.subjects()
                    .register(monitor.limits().stream()
                            .map(limit ->
                                    Row.of(Tags.of("limit", limit), monitor, watched -> watched.deniedSubjects(limit)))
                            .toList());
        }
    }
}
