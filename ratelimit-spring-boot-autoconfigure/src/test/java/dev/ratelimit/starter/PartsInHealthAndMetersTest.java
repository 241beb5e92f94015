package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.engine.EngineStatus;
import dev.ratelimit.engine.EngineStatus.Cache;
import dev.ratelimit.engine.EngineStatus.Calls;
import dev.ratelimit.engine.EngineStatus.Circuit;
import dev.ratelimit.engine.EngineStatus.Queue;
import dev.ratelimit.engine.EngineStatus.Store;
import dev.ratelimit.health.RateLimitHealthIndicator;
import dev.ratelimit.metrics.LimiterMeters;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;

/** A store of three parts, such as shards, two of which have failed. */
class PartsInHealthAndMetersTest {

    private static final Cache NONE = new Cache(0, 0, 0);

    private static EngineStatus status(Store store) {
        return new EngineStatus(store, new Queue(7, 40_000, 2, 8), new Calls(0, 0, Duration.ZERO), NONE, NONE);
    }

    private static final EngineStatus TWO_OF_THREE_FAILED =
            status(new Store(false, Circuit.OPEN, "2 of 3 parts: connection refused", Duration.ofSeconds(5), 3, 2));

    @Test
    void healthTellsHowManyPartsAreOpen() {
        Health health = new RateLimitHealthIndicator("Redis", () -> TWO_OF_THREE_FAILED, () -> null).health();

        assertThat(health.getStatus()).isEqualTo(RateLimitHealthIndicator.DEGRADED);
        assertThat(health.getDetails())
                .containsEntry("circuit", "open")
                .containsEntry("openParts", "2 of 3")
                .containsEntry("reason", "2 of 3 parts: connection refused")
                .containsEntry("waiting", "7 of 40000");
    }

    @Test
    void healthOfAStoreWithoutPartsDoesNotMentionThem() {
        EngineStatus whole = status(new Store(true, Circuit.CLOSED, null, Duration.ZERO, 1, 0));

        assertThat(new RateLimitHealthIndicator("Redis", () -> whole, () -> null)
                        .health()
                        .getDetails())
                .containsEntry("store", "available")
                .doesNotContainKey("openParts");
    }

    @Test
    void metersCountOpenParts() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        new LimiterMeters(() -> TWO_OF_THREE_FAILED, false, () -> null, () -> 0).bindTo(meters);

        assertThat(meters.get("ratelimit.circuit.open").gauge().value()).isEqualTo(2);
        assertThat(meters.get("ratelimit.store.available").gauge().value()).isZero();
        assertThat(meters.get("ratelimit.queue.capacity").gauge().value()).isEqualTo(40_000);
    }
}
