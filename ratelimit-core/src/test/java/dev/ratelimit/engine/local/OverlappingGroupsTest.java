package dev.ratelimit.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two groups with the same key are at the store at once, one of a part and one over several parts; one carries a debt. */
class OverlappingGroupsTest {

    private static final Limit TEN = Limit.named("ten")
            .algorithm(new FixedWindow(10, Duration.ofHours(1)))
            .build();

    private final SettableClock clock = new SettableClock();
    private final MemoryLimitStore store = new MemoryLimitStore(clock);
    private final LocalDecisions local = new LocalDecisions(1, clock);

    private static Pending request() {
        return new Pending(new Operation(Kind.DECIDE, List.of(new Demand(Subject.user("alice"), TEN, 1))), null, true);
    }

    private void grantHere(int number) {
        for (int i = 0; i < number; i++) {
            assertThat(local.decide(request()).answer().allowed()).isTrue();
        }
    }

    private List<Answer> decideInStore(List<Pending> sent) {
        return store.decide(sent.stream().map(Pending::sent).toList());
    }

    private void answered(List<Pending> group, List<Answer> answers) {
        assertThat(local.answered(group, answers)).as("to take back").isEmpty();
        local.returned(group);
    }

    /** Sends one more request, and gives what the store has left after it. */
    private long remainingAfterAnother() {
        List<Pending> group = local.send(List.of(request()));
        List<Answer> answers = decideInStore(group);
        answered(group, answers);
        return answers.get(0).first().remaining();
    }

    @Test
    void debtIsChargedOnceWhenTheOtherGroupIsAnsweredFirst() {
        grantHere(3);
        List<Pending> carrying = local.send(List.of(request()));
        List<Pending> other = local.send(List.of(request()));
        List<Answer> first = decideInStore(carrying);
        List<Answer> second = decideInStore(other);

        answered(other, second);
        grantHere(1);
        answered(carrying, first);

        assertThat(remainingAfterAnother()).as("after 3 + 1, 1, then 1 + 1").isEqualTo(3);
        assertThat(local.debts()).isZero();
    }

    @Test
    void debtStaysOwedWhenItsGroupFails() {
        grantHere(3);
        List<Pending> carrying = local.send(List.of(request()));
        List<Pending> other = local.send(List.of(request()));

        answered(other, decideInStore(other));
        local.failed(carrying);
        local.returned(carrying);

        assertThat(remainingAfterAnother()).as("after 1, then 3 + 1").isEqualTo(5);
        assertThat(local.debts()).isZero();
    }
}
