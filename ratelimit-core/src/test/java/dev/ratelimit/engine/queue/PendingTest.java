package dev.ratelimit.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each of a group wakes others; nobody may be left asleep, whoever is gone. */
@Timeout(60)
class PendingTest {

    private static final int SIZE = 256;

    private static final Operation OPERATION = new Operation(
            Kind.DECIDE,
            List.of(new Demand(
                    Subject.user("alice"),
                    Limit.named("api")
                            .algorithm(new TokenBucket(10, Rate.perSecond(10)))
                            .build(),
                    1)));

    /** A thread that waits, and whether it was decided when it went on. */
    private record Waiting(Pending pending, FutureTask<Boolean> decided, Thread thread) {}

    private static Waiting start(long waitMillis) throws InterruptedException {
        BlockingQueue<Pending> made = new LinkedBlockingQueue<>();
        FutureTask<Boolean> decided = new FutureTask<>(() -> {
            Pending pending = new Pending(OPERATION);
            made.add(pending);
            return pending.await(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis));
        });
        Thread thread = new Thread(decided, "pending");
        thread.start();
        return new Waiting(made.take(), decided, thread);
    }

    @Test
    void everybodyWhoWaitsIsWokenEvenByOthersThatHaveLeft() throws Exception {
        List<Waiting> group = new ArrayList<>();
        for (int place = 0; place < SIZE; place++) {
            // Among those who leave are all that the group is woken by first.
            group.add(start(place < 8 || place % 3 == 0 ? 1 : 50_000));
        }
        for (int place = 0; place < SIZE; place++) {
            if (place < 8 || place % 3 == 0) {
                assertThat(group.get(place).decided().get(10, TimeUnit.SECONDS)).isFalse();
            }
        }
        group.get(10).thread().interrupt();

        Pending.complete(group.stream().map(Waiting::pending).toList(), HeldStore.yes(operations())::get);

        for (int place = 8; place < SIZE; place++) {
            if (place % 3 != 0) {
                assertThat(group.get(place).decided().get(10, TimeUnit.SECONDS)).isTrue();
                assertThat(group.get(place).pending().answer().allowed()).isTrue();
            }
        }
    }

    @Test
    void whatNobodyWaitsForIsToldAndWakesTheOthers() throws Exception {
        AtomicInteger told = new AtomicInteger();
        List<Pending> group = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            group.add(new Pending(OPERATION, result -> told.incrementAndGet()));
        }
        Waiting last = start(50_000);
        group.add(last.pending());

        Pending.complete(group, place -> new IllegalStateException("failed on purpose"));

        assertThat(last.decided().get(10, TimeUnit.SECONDS)).isTrue();
        assertThat(told).hasValue(20);
    }

    private static List<Operation> operations() {
        return Collections.nCopies(SIZE, OPERATION);
    }
}
