package dev.ratelimit.store.move;

import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.move.BothCharges.Both;
import dev.ratelimit.support.LogText;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One call over both stores. Not thread-safe. */
final class GroupInBoth {

    private static final Logger log = LoggerFactory.getLogger(GroupInBoth.class);

    private final List<Operation> group;
    private final BothCharges charges;

    /** To be done in each store after both were asked: charges to give back, and violations to count. */
    private final List<Operation> correctionsOfPrevious = new ArrayList<>();

    private final List<Operation> correctionsOfCurrent = new ArrayList<>();

    GroupInBoth(List<Operation> group, BothCharges charges) {
        this.group = group;
        this.charges = charges;
    }

    List<Answer> decide(LimitStore previous, LimitStore current) {
        List<List<Both>> settled = new ArrayList<>(group.size());
        List<@Nullable Operation> operations = new ArrayList<>(group.size());
        for (Operation operation : group) {
            List<Both> both = operation.kind() == Kind.SETTLE
                    ? operation.demands().stream().map(charges::find).toList()
                    : List.of();
            settled.add(both);
            operations.add(of(operation, both, Both::inPrevious));
        }
        GivenAnswers before = GivenAnswers.ask(previous, operations);
        for (int i = 0; i < group.size(); i++) {
            boolean isDecided = before.answers().get(i) != null;
            operations.set(i, isDecided ? of(group.get(i), settled.get(i), Both::inCurrent) : null);
        }
        GivenAnswers after = GivenAnswers.ask(current, operations);
        List<@Nullable Answer> answers = new ArrayList<>(group.size());
        for (int i = 0; i < group.size(); i++) {
            answers.add(answer(
                    group.get(i), before.answers().get(i), after.answers().get(i)));
        }
        correct(previous, correctionsOfPrevious);
        correct(current, correctionsOfCurrent);
        return complete(answers, before.failure(), after.failure());
    }

    private static Operation of(Operation operation, List<Both> both, BiFunction<Both, Demand, Demand> ofStore) {
        if (both.isEmpty()) {
            return operation;
        }
        List<Demand> demands = new ArrayList<>(both.size());
        for (int i = 0; i < both.size(); i++) {
            demands.add(ofStore.apply(both.get(i), operation.demands().get(i)));
        }
        return new Operation(operation.kind(), demands);
    }

    private @Nullable Answer answer(Operation operation, @Nullable Answer before, @Nullable Answer after) {
        if (before == null) {
            return null;
        }
        if (after == null) {
            undo(operation, before);
            return null;
        }
        Answer answer = Stricter.of(before, after);
        if (operation.kind() == Kind.DECIDE) {
            agree(operation, before, after, answer);
        }
        return answer;
    }

    /** The current store has failed: the previous one should count nothing that was not decided. */
    private void undo(Operation operation, Answer before) {
        if (operation.kind() == Kind.DECIDE && before.allowed()) {
            correctionsOfPrevious.add(giveBack(operation, before));
        } else if (operation.kind() == Kind.SETTLE) {
            operation.demands().forEach(charges::settledInPrevious);
        }
    }

    private void agree(Operation operation, Answer before, Answer after, Answer answer) {
        if (before.allowed() && after.allowed()) {
            for (int i = 0; i < operation.demands().size(); i++) {
                charges.remember(
                        operation.demands().get(i).key(),
                        answer.verdicts().get(i),
                        before.verdicts().get(i).charge(),
                        after.verdicts().get(i).charge());
            }
            return;
        }
        if (before.allowed()) {
            correctionsOfPrevious.add(giveBack(operation, before));
        } else if (after.allowed()) {
            correctionsOfCurrent.add(giveBack(operation, after));
        }
        countViolations(operation, after, before, correctionsOfPrevious);
        countViolations(operation, before, after, correctionsOfCurrent);
    }

    private static Operation giveBack(Operation operation, Answer charged) {
        List<Demand> back = new ArrayList<>(operation.demands().size());
        for (int i = 0; i < operation.demands().size(); i++) {
            Demand demand = operation.demands().get(i);
            back.add(new Demand(
                    demand.subject(),
                    demand.limit(),
                    0,
                    charged.verdicts().get(i).charge().withInterval()));
        }
        return new Operation(Kind.SETTLE, back);
    }

    /** Counts the violations that one store has seen and the other has not, unless a subject is under a penalty. */
    private static void countViolations(Operation operation, Answer seen, Answer unseen, List<Operation> corrections) {
        if (isBlocked(seen) || isBlocked(unseen)) {
            return;
        }
        List<Demand> violated = new ArrayList<>();
        for (int i = 0; i < operation.demands().size(); i++) {
            Demand demand = operation.demands().get(i);
            Verdict violation = seen.verdicts().get(i);
            if (!violation.allowed()
                    && unseen.verdicts().get(i).allowed()
                    && !demand.limit().penalties().isEmpty()) {
                violated.add(new Demand(demand.subject(), demand.limit(), demand.cost()));
            }
        }
        if (!violated.isEmpty()) {
            corrections.add(new Operation(Kind.VIOLATE, violated));
        }
    }

    private static boolean isBlocked(Answer answer) {
        for (Verdict verdict : answer.verdicts()) {
            if (verdict.outcome() == Outcome.BLOCKED) {
                return true;
            }
        }
        return false;
    }

    private static void correct(LimitStore store, List<Operation> corrections) {
        if (corrections.isEmpty()) {
            return;
        }
        try {
            store.decide(corrections);
        } catch (RuntimeException e) {
            log.debug(
                    "Leaving up to {} charges that one of two stores has made: {}",
                    corrections.size(),
                    LogText.of(e.getMessage()));
        }
    }

    private static List<Answer> complete(
            List<@Nullable Answer> answers, @Nullable RuntimeException before, @Nullable RuntimeException after) {
        List<Answer> all = new ArrayList<>(answers.size());
        for (Answer answer : answers) {
            if (answer == null) {
                throw failed(answers, before, after);
            }
            all.add(answer);
        }
        return all;
    }

    private static LimitStoreException failed(
            List<@Nullable Answer> answers, @Nullable RuntimeException before, @Nullable RuntimeException after) {
        RuntimeException failure = before == null || (before instanceof LockedKeysException && after != null)
                ? Objects.requireNonNull(after)
                : before;
        if (failure instanceof LockedKeysException locked) {
            return new LockedKeysException(locked.keys(), answers, locked);
        }
        Set<Integer> parts =
                before == null && failure instanceof LimitStoreException ofCurrent ? ofCurrent.parts() : Set.of();
        String which = failure == before ? "the previous store failed: " : "the current store failed: ";
        return new LimitStoreException(which + failure.getMessage(), answers, parts, failure);
    }
}
