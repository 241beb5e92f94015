package dev.ratelimit.store.shard;

import static dev.ratelimit.store.shard.TestShards.atMost;
import static dev.ratelimit.store.shard.TestShards.operation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A shard that is slow whenever it is asked, and one of whose subjects has moved. */
@Timeout(60)
class OneDeadlineTest {

    private static final Duration DEADLINE = Duration.ofSeconds(2);
    private static final Limit LIMIT = atMost("calls", 3);
    private static final Subject MOVED = Subject.user("moved");
    private static final Subject OTHER = Subject.user("other");

    private final CountDownLatch end = new CountDownLatch(1);

    /** Says at three quarters of the deadline that a subject has moved. The next call takes for ever. */
    private final class SlowStore extends ForwardingLimitStore {

        private boolean asked;

        SlowStore() {
            super(new MemoryLimitStore());
        }

        @Override
        public boolean answersInTime() {
            return true;
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            boolean first = !asked;
            asked = true;
            await(first ? DEADLINE.toMillis() * 3 / 4 : Long.MAX_VALUE);
            if (first) {
                throw new MovedKeysException(Set.of(StateKey.of(MOVED, LIMIT.name())), List.of());
            }
            return super.decide(group);
        }

        private void await(long millis) {
            try {
                boolean unused = end.await(millis, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @AfterEach
    void letGo() {
        end.countDown();
    }

    @Test
    void groupThatMeetsAMovedSubjectHasNoSecondDeadline() {
        try (ShardedLimitStore store =
                new ShardedLimitStore(List.of(new Shard("a", new SlowStore(), null)), DEADLINE)) {
            long start = System.nanoTime();

            assertThatThrownBy(() -> store.decide(
                            List.of(operation(Kind.DECIDE, MOVED, LIMIT), operation(Kind.DECIDE, OTHER, LIMIT))))
                    .isInstanceOf(LimitStoreException.class);

            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(DEADLINE.multipliedBy(3).dividedBy(2));
            end.countDown();
        }
    }
}
