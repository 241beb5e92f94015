package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.redis.Moments.Round;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which tasks are decided together, if the clocks of their servers differ. Each slot is a server of its own. */
class MomentsTest {

    private static final int A = 1;
    private static final int B = 2;
    private static final int C = 3;
    private static final int D = 4;

    private static final Limit LIMIT = Instance.atMost("calls", 10);

    private final ServerClocks clocks = new ServerClocks(() -> 0, () -> Instant.EPOCH);
    private final Moments moments = new Moments(slot -> "node" + slot, clocks, null);

    private void clock(int slot, long millis) {
        clocks.told("node" + slot, millis * 1_000);
    }

    private static Task task(int... slots) {
        List<Demand> demands = new ArrayList<>();
        List<Row> rows = new ArrayList<>();
        for (int slot : slots) {
            Subject subject = Subject.user("user" + slot);
            demands.add(new Demand(subject, LIMIT, 1));
            rows.add(new Row(StateKey.of(subject, LIMIT.name()), new byte[0], slot, Stored.NONE));
        }
        return new Task(new Operation(Kind.DECIDE, demands), rows);
    }

    @Test
    void earliestClockOfAllIsTheMoment() {
        clock(A, 10_000);
        clock(B, 10_400);
        clock(C, 9_900);
        List<Task> open = List.of(task(A, B), task(C));

        assertThat(moments.next(open)).isEqualTo(new Round(open, 9_900_000));
    }

    @Test
    void slowClockHoldsUpNoTaskOfOtherServers() {
        clock(A, 10_000);
        clock(B, 10_000);
        clock(C, 8_500);
        Task torn = task(A, C);
        Task healthy = task(A, B);

        assertThat(moments.next(List.of(torn, healthy))).isEqualTo(new Round(List.of(healthy), 10_000_000));
        assertThat(moments.next(List.of(torn)))
                .as("tried all the same: the clock may be right again")
                .isEqualTo(new Round(List.of(torn), 8_500_000));
    }

    @Test
    void serversThatAreSlowTogetherAreDecidedByThemselves() {
        clock(A, 10_000);
        clock(B, 10_000);
        clock(C, 8_500);
        clock(D, 8_600);
        Task slow = task(C, D);
        Task healthy = task(A, B);

        assertThat(moments.next(List.of(slow, healthy))).isEqualTo(new Round(List.of(slow), 8_500_000));
        assertThat(moments.next(List.of(healthy, slow))).isEqualTo(new Round(List.of(healthy), 10_000_000));
    }
}
