package dev.ratelimit.upkeep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class UpkeepTest {

    /** A little less than it is, in nanoseconds. */
    private static final long LONGEST_REST = 990_000_000;

    /** When a step began and ended. */
    private record Step(long begin, long end) {}

    private static final class SlowStore implements LimitStore {

        final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();
        private final Progress progress;

        SlowStore(Progress progress) {
            this.progress = progress;
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Pruned prune(long keepMicros) {
            long begin = System.nanoTime();
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            steps.add(new Step(begin, System.nanoTime()));
            return new Pruned(1, 0, steps.size() < 4 ? progress : Progress.FINISHED);
        }

        @Override
        public void close() {}
    }

    @Test
    void theLastRunIsKnownAndSoIsItsFailure() {
        try (Upkeep upkeep = new Upkeep(new SlowStore(Progress.MORE), Duration.ofHours(1))) {
            assertThat(upkeep.lastRun()).isNull();
            Upkeep.Report report = upkeep.run();
            assertThat(upkeep.lastRun()).satisfies(run -> {
                assertThat(run.report()).isEqualTo(report);
                assertThat(run.failure()).isNull();
            });
        }
        try (Upkeep failing = new Upkeep(new FailingStore(), Duration.ofHours(1))) {
            assertThatThrownBy(failing::run).isInstanceOf(IllegalStateException.class);
            assertThat(failing.lastRun()).satisfies(run -> {
                assertThat(run.report()).isNull();
                assertThat(run.failure()).isEqualTo("no table\\u000aFORGED");
            });
        }
    }

    private static final class FailingStore implements LimitStore {

        @Override
        public List<Answer> decide(List<Operation> group) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Pruned prune(long keepMicros) {
            throw new IllegalStateException("no table\nFORGED");
        }

        @Override
        public void close() {}
    }

    @ParameterizedTest
    @CsvSource({"MORE, 98", "MANY_EXPIRED, 8"})
    void onScheduleItRestsForMostOfTheTime(Progress progress, long times) throws Exception {
        SlowStore store = new SlowStore(progress);
        try (Upkeep upkeep = new Upkeep(store, Duration.ZERO).every(Duration.ofMillis(1))) {
            assertThat(upkeep).isNotNull();
            Step before = store.steps.poll(30, TimeUnit.SECONDS);
            Step after = store.steps.poll(30, TimeUnit.SECONDS);

            assertThat(after.begin() - before.end())
                    .isGreaterThan(Math.min(times * (before.end() - before.begin()), LONGEST_REST));
        }
    }

    @Test
    void itHurriesWhereManyHaveExpired() throws Exception {
        assertThat(shortestRest(Progress.MANY_EXPIRED)).isLessThan(shortestRest(Progress.MORE));
    }

    private static long shortestRest(Progress progress) throws Exception {
        SlowStore store = new SlowStore(progress);
        try (Upkeep upkeep = new Upkeep(store, Duration.ZERO).every(Duration.ofMillis(1))) {
            assertThat(upkeep).isNotNull();
            long shortest = Long.MAX_VALUE;
            Step before = store.steps.poll(30, TimeUnit.SECONDS);
            for (int rests = 0; rests < 3; rests++) {
                Step after = store.steps.poll(30, TimeUnit.SECONDS);
                shortest = Math.min(shortest, after.begin() - before.end());
                before = after;
            }
            return shortest;
        }
    }

    @Test
    void onCallItRunsToTheEnd() {
        SlowStore store = new SlowStore(Progress.MORE);
        try (Upkeep upkeep = new Upkeep(store, Duration.ZERO)) {
            assertThat(upkeep.run()).isEqualTo(new Upkeep.Report(4, 0, true));
        }
    }

    /** On a large table a run on schedule takes an hour. */
    @Test
    void onCallItDoesNotWaitForARunOnSchedule() throws Exception {
        SlowStore store = new SlowStore(Progress.MORE);
        try (Upkeep upkeep = new Upkeep(store, Duration.ZERO).every(Duration.ofMillis(1))) {
            Step first = store.steps.poll(30, TimeUnit.SECONDS);
            store.steps.add(first);

            // three steps to the end of the run on schedule, and one over all rows
            assertThat(upkeep.run()).isEqualTo(new Upkeep.Report(4, 0, true));
        }
    }
}
