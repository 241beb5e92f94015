package dev.ratelimit.upkeep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UpkeepTest {

    /** When a step began and ended. */
    private record Step(long begin, long end) {}

    private static final class SlowStore implements LimitStore {

        final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();

        @Override
        public List<Answer> decide(List<Operation> group) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Pruned prune(long keepMicros) {
            long begin = System.nanoTime();
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            steps.add(new Step(begin, System.nanoTime()));
            return new Pruned(1, 0, steps.size() < 4 ? Progress.MORE : Progress.FINISHED);
        }

        @Override
        public void close() {}
    }

    @Test
    void onScheduleItRestsForMostOfTheTime() throws Exception {
        SlowStore store = new SlowStore();
        try (Upkeep upkeep = new Upkeep(store, Duration.ZERO).every(Duration.ofMillis(1))) {
            assertThat(upkeep).isNotNull();
            Step before = store.steps.poll(30, TimeUnit.SECONDS);
            Step after = store.steps.poll(30, TimeUnit.SECONDS);

            assertThat(after.begin() - before.end()).isGreaterThan(8 * (before.end() - before.begin()));
        }
    }

    @Test
    void onCallItRunsToTheEnd() {
        SlowStore store = new SlowStore();
        try (Upkeep upkeep = new Upkeep(store, Duration.ZERO)) {
            assertThat(upkeep.run()).isEqualTo(new Upkeep.Report(4, 0, true));
        }
    }
}
