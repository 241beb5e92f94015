package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.testing.Messages;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StoreHealthTest {

    private static final String DOWN =
            "Store unavailable; applying on-failure to each request: the store did not answer in time";
    private static final String UP = "Store available again; deciding rate limits there";

    private final AtomicLong nanos = new AtomicLong();
    private final StoreHealth health = new StoreHealth(nanos::get, new Listeners<>(List.of()));

    @Test
    void whereSomeAreDecidedAndOthersNotItIsSaidOnce() {
        try (Messages messages = new Messages()) {
            for (int i = 0; i < 50; i++) {
                health.undecided(UndecidedException.late());
                nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
                health.decided();
            }
            assertThat(messages.all()).containsExactly(DOWN);

            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
            health.decided();
            health.decided();
            assertThat(messages.all()).containsExactly(DOWN, UP);

            health.undecided(UndecidedException.late());
            assertThat(messages.all()).containsExactly(DOWN, UP, DOWN);
        }
    }
}
