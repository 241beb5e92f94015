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

    private static Operation decide(Subject subject) {
        return new Operation(Kind.DECIDE, List.of(new Demand(subject, LIMIT, 1)));
    }
}
