package dev.ratelimit.store.shard;

import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An operation for one shard, and what became of it. Used by the thread that asks. */
final class Question {

    final int shard;
    final Operation operation;
    private @Nullable Answer answer;
    private @Nullable LimitStoreException failure;
    private boolean late;

    Question(int shard, Operation operation) {
        this.shard = shard;
        this.operation = operation;
    }

    void answered(Answer given) {
        answer = given;
    }

    void failed(LimitStoreException e) {
        failure = e;
    }

    /** There is no answer yet, but there may be one later. */
    void missed(LimitStoreException e) {
        failure = e;
        late = true;
    }

    /** Why there is no answer; {@code null} if there is one. */
    @Nullable
    LimitStoreException failure() {
        return failure;
    }

    boolean isAnswered() {
        return answer != null;
    }

    Answer answer() {
        return Objects.requireNonNull(answer);
    }

    /** Whether it has failed, and surely nothing was changed by it. */
    boolean isSurelyUndone() {
        return !late && failure != null && failure.isSurelyUndone();
    }

    /** The operation that takes all of its charges back, as if its request had never come. */
    Operation refund() {
        List<Demand> back = new ArrayList<>();
        List<Verdict> verdicts = answer().verdicts();
        for (int i = 0; i < verdicts.size(); i++) {
            Demand demand = operation.demands().get(i);
            back.add(new Demand(
                    demand.subject(),
                    demand.limit(),
                    demand.key(),
                    0,
                    verdicts.get(i).charge().withInterval(),
                    null));
        }
        return new Operation(Kind.SETTLE, back);
    }

    /** Whether it was charged, as far as is known. */
    boolean isCharged() {
        return answer != null && operation.kind() == Operation.Kind.DECIDE && answer.allowed();
    }
}
