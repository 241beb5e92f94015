package dev.ratelimit.health;

import dev.ratelimit.engine.EngineStatus;
import dev.ratelimit.support.Keyword;
import dev.ratelimit.upkeep.Upkeep;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/**
 * Shows the store, the circuit, the queue and the last upkeep.
 *
 * <p>While the store is unavailable, the status is {@link #DEGRADED}. Spring Boot leaves a status that it does not know out of
 * the status of the application, which still serves requests: {@code on-failure} decides them.
 */
public final class RateLimitHealthIndicator implements HealthIndicator {

    /** Requests are served, but the store does not decide them. */
    public static final Status DEGRADED =
            new Status("DEGRADED", "The rate limit store is unavailable; on-failure decides requests");

    private final String place;
    private final Supplier<EngineStatus> engine;
    private final Supplier<@Nullable Upkeep> upkeep;

    /**
     * @param place names the store
     * @param engine asks the store, within its deadline, and returns the state after it
     * @param upkeep {@code null} if there is none
     */
    public RateLimitHealthIndicator(String place, Supplier<EngineStatus> engine, Supplier<@Nullable Upkeep> upkeep) {
        this.place = place;
        this.engine = engine;
        this.upkeep = upkeep;
    }

    @Override
    public Health health() {
        EngineStatus status = engine.get();
        EngineStatus.Store store = status.store();
        Health.Builder health = store.available() ? Health.up() : Health.status(DEGRADED);
        health.withDetail("store", store.available() ? "available" : "unavailable")
                .withDetail("place", place)
                .withDetail("circuit", Keyword.of(store.circuit()))
                .withDetail(
                        "waiting",
                        status.queue().waiting() + " of " + status.queue().capacity());
        if (store.parts() > 1) {
            health.withDetail("openParts", store.openParts() + " of " + store.parts());
        }
        if (!store.available()) {
            health.withDetail("reason", String.valueOf(store.reason()))
                    .withDetail("unavailableFor", store.unavailableFor().toSeconds() + "s");
        }
        addUpkeep(health);
        return health.build();
    }

    private void addUpkeep(Health.Builder health) {
        Upkeep known = upkeep.get();
        Upkeep.LastRun last = known == null ? null : known.lastRun();
        if (last == null) {
            health.withDetail("lastUpkeep", "none since the start");
        } else {
            health.withDetail("lastUpkeep", last.at().toString());
            if (last.failure() != null) {
                health.withDetail("upkeepFailure", last.failure());
            }
        }
    }
}
