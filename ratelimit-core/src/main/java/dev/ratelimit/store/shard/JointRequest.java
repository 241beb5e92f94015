package dev.ratelimit.store.shard;

import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** A request over subjects on several shards, and what is known of it so far. Not thread-safe. */
final class JointRequest {

    /** Changes nothing; but it brings a debt, and moves a state along with a clock that was set back. */
    private static final Charge NOTHING = new Charge(0, 0, 0);

    /** The demands on one shard. */
    static final class Part {

        final int shard;
        private final List<Integer> places = new ArrayList<>();
        private final List<Demand> demands = new ArrayList<>();
        private final List<Demand> withDebts = new ArrayList<>();

        private Part(int shard) {
            this.shard = shard;
        }

        private void add(int place, Demand demand, boolean debtsFirst) {
            places.add(place);
            demands.add(debtsFirst ? withoutDebt(demand) : demand);
            if (debtsFirst && demand.debt() != null) {
                withDebts.add(demand);
            }
        }

        Question question(Kind kind) {
            return new Question(shard, new Operation(kind, demands));
        }

        /** Writes states that a clock has left in the future, and charges nothing. */
        Question touch() {
            return touch(demands);
        }

        /** Charges its debts; {@code null} if there are none. */
        @Nullable
        Question bringDebts() {
            return withDebts.isEmpty() ? null : touch(withDebts);
        }

        void broughtDebts() {
            withDebts.clear();
        }

        private Question touch(List<Demand> touched) {
            return new Question(
                    shard,
                    new Operation(
                            Kind.SETTLE,
                            touched.stream()
                                    .map(demand -> new Demand(
                                            demand.subject(), demand.limit(), demand.key(), 0, NOTHING, demand.debt()))
                                    .toList()));
        }
    }

    private final Operation operation;
    private final List<Part> parts;
    private final @Nullable Verdict[] verdicts;
    private long now;
    private @Nullable LimitStoreException failure;
    private final Set<Integer> failedShards = new TreeSet<>();

    JointRequest(Operation operation, ToIntFunction<Demand> shardOf) {
        this.operation = operation;
        this.verdicts = new @Nullable Verdict[operation.demands().size()];
        TreeMap<Integer, Part> byShard = new TreeMap<>();
        for (int i = 0; i < verdicts.length; i++) {
            Demand demand = operation.demands().get(i);
            byShard.computeIfAbsent(shardOf.applyAsInt(demand), Part::new)
                    .add(i, demand, operation.kind() == Kind.DECIDE);
        }
        this.parts = List.copyOf(byShard.values());
    }

    private static Demand withoutDebt(Demand demand) {
        return demand.debt() == null
                ? demand
                : new Demand(demand.subject(), demand.limit(), demand.key(), demand.cost(), demand.charge(), null);
    }

    Operation operation() {
        return operation;
    }

    List<Demand> demands() {
        return operation.demands();
    }

    List<Part> parts() {
        return parts;
    }

    boolean hasDebts() {
        return parts.stream().anyMatch(part -> !part.withDebts.isEmpty());
    }

    /** Takes the verdicts of one shard, or its failure. */
    void take(Part part, Question question) {
        if (!question.isAnswered()) {
            failure = Objects.requireNonNull(question.failure());
            if (!(failure instanceof LockedKeysException || failure instanceof MovedKeysException)) {
                failedShards.add(part.shard); // otherwise the shard itself is well
            }
            return;
        }
        now = Math.max(now, question.answer().now());
        for (int i = 0; i < part.places.size(); i++) {
            verdicts[part.places.get(i)] = question.answer().verdicts().get(i);
        }
    }

    @Nullable
    LimitStoreException failure() {
        return failure;
    }

    Set<Integer> failedShards() {
        return failedShards;
    }

    /** Whether every limit had room when it was last looked at. */
    boolean hasRoom() {
        return Arrays.stream(verdicts).allMatch(verdict -> verdict != null && verdict.allowed());
    }

    /** Whether a subject is under a penalty. */
    boolean isBlocked() {
        return Arrays.stream(verdicts).anyMatch(verdict -> verdict != null && verdict.outcome() == Outcome.BLOCKED);
    }

    /** Whether a denial counts a violation on this shard. */
    boolean violates(Part part) {
        for (int i = 0; i < part.places.size(); i++) {
            if (!verdict(part.places.get(i)).allowed()
                    && !part.demands.get(i).limit().penalties().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    Verdict verdict(int demand) {
        return Objects.requireNonNull(verdicts[demand]);
    }

    /** The answer, from the last verdict on each limit. */
    Answer answer() {
        return new Answer(
                now, Arrays.stream(verdicts).map(Objects::requireNonNull).toList());
    }
}
