package dev.ratelimit.store.swap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SwapLoopTest {

    private static final Limit LIMIT = Limit.named("ten")
            .algorithm(new FixedWindow(10, Duration.ofHours(1)))
            .build();
    private static final Subject WINS = Subject.user("wins");
    private static final Subject MOVES = Subject.user("moves");

    /** The swap of the second subject is lost, since it leaves for another shard. */
    private static final class LeavingTable implements SwapTable {

        private boolean swapped;

        @Override
        public SwapSnapshot read(Set<StateKey> keys, boolean withViolations) {
            if (swapped) {
                throw new MovedKeysException(keys, List.of());
            }
            return new SwapSnapshot(1, Map.of());
        }

        @Override
        public Set<SwapChange> swap(List<SwapChange> changes) {
            swapped = true;
            return Set.of(changes.get(0));
        }
    }

    @Test
    void keyThatMovesAfterALostSwapIsSaidToHaveMoved() {
        SwapLoop loop = new SwapLoop(new LeavingTable(), Duration.ofSeconds(20));

        assertThatThrownBy(() -> loop.decide(List.of(decide(WINS), decide(MOVES))))
                .isInstanceOfSatisfying(MovedKeysException.class, e -> {
                    assertThat(e.keys()).containsExactly(StateKey.of(MOVES, LIMIT.name()));
                    assertThat(e.answers()).hasSize(2);
                    assertThat(e.answers().get(0)).isNotNull();
                    assertThat(e.answers().get(1)).isNull();
                });
    }

    /** Its first answer takes longer than a second, as if this process had been paused. */
    private static final class SlowTable implements SwapTable {

        private final List<Long> written = new ArrayList<>();
        private long nanos;
        private long now = 1_000_000;

        @Override
        public SwapSnapshot read(Set<StateKey> keys, boolean withViolations) {
            boolean first = nanos == 0;
            SwapSnapshot snapshot = new SwapSnapshot(now, Map.of());
            nanos += Duration.ofMillis(first ? 1_001 : 1).toNanos();
            now += first ? 1_001_000 : 1_000;
            return snapshot;
        }

        @Override
        public Set<SwapChange> swap(List<SwapChange> changes) {
            changes.forEach(change ->
                    change.rows().forEach(row -> written.add(row.state().last())));
            return Set.copyOf(changes);
        }
    }

    @Test
    void decisionOfMoreThanASecondAgoIsMadeAgain() {
        SlowTable table = new SlowTable();
        SwapLoop loop = new SwapLoop(table, Duration.ofSeconds(20), () -> table.nanos);

        assertThat(loop.decide(List.of(decide(WINS))).get(0).now()).isEqualTo(2_001_000);
        assertThat(table.written).containsExactly(2_001_000L);
    }

    private static Operation decide(Subject subject) {
        return new Operation(Kind.DECIDE, List.of(new Demand(subject, LIMIT, 1)));
    }
}
