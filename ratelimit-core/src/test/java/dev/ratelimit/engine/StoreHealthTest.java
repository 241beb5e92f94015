package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.engine.EngineStatus.Circuit;
import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.testing.Messages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StoreHealthTest {

    private static final String DOWN =
            "Store unavailable; applying on-failure to each request that it does not decide: the store did not answer in time";
    private static final String UP = "Store available again; deciding rate limits there";

    private final AtomicLong nanos = new AtomicLong();
    private final List<String> news = new ArrayList<>();
    private final StoreHealth store = new StoreHealth(
            nanos::get,
            new Listeners<>(List.of(new StoreListener() {
                @Override
                public void storeLost(String reason) {
                    news.add("lost: " + reason);
                }

                @Override
                public void storeRegained(Duration unavailableFor) {
                    news.add("regained after " + unavailableFor);
                }
            })),
            () -> {});
    private final StoreHealth.Part health = store.newPart();

    @Test
    void whereSomeAreDecidedAndOthersNotItIsSaidOnce() {
        try (Messages messages = new Messages()) {
            for (int i = 0; i < 50; i++) {
                health.undecided(UndecidedException.late(true));
                nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
                health.decided();
            }
            assertThat(messages.all()).containsExactly(DOWN);

            nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
            health.decided();
            health.decided();
            assertThat(messages.all()).containsExactly(DOWN, UP);

            health.undecided(UndecidedException.late(true));
            assertThat(messages.all()).containsExactly(DOWN, UP, DOWN);
        }
    }

    /** A part that is rarely asked is not back because the others answer. */
    @Test
    void storeIsLostWhileAPartIsAndTheMessageTellsHowMany() {
        StoreHealth.Part second = store.newPart();
        StoreHealth.Part third = store.newPart();
        try (Messages messages = new Messages()) {
            second.undecided(UndecidedException.late(true));
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
            health.decided();
            third.decided();
            assertThat(store.status(Circuit.OPEN, 1).available()).isFalse();

            third.undecided(UndecidedException.locked());
            assertThat(store.status(Circuit.OPEN, 2))
                    .isEqualTo(new EngineStatus.Store(
                            false,
                            Circuit.OPEN,
                            "2 of 3 parts: the store did not answer in time",
                            Duration.ofSeconds(2),
                            3,
                            2));

            nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
            second.decided();
            assertThat(store.status(Circuit.OPEN, 1).reason())
                    .isEqualTo("1 of 3 parts: another process holds the state of the subject");
            third.decided();
            assertThat(store.status(Circuit.CLOSED, 0))
                    .isEqualTo(new EngineStatus.Store(true, Circuit.CLOSED, null, Duration.ZERO, 3, 0));

            assertThat(messages.all())
                    .containsExactly(
                            "Store unavailable; applying on-failure to each request that it does not decide: "
                                    + "1 of 3 parts: the store did not answer in time",
                            "Store unavailable; applying on-failure to each request that it does not decide: "
                                    + "2 of 3 parts: the store did not answer in time",
                            "Part of the store available again; 1 of 3 parts are not",
                            UP);
            assertThat(news)
                    .containsExactly("lost: 1 of 3 parts: the store did not answer in time", "regained after PT4S");
        }
    }
}
