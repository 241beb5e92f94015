package dev.ratelimit.store.shard;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.UnreachedStoreException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides a group on several shards, turn by turn. Joint requests take odd turns. Operations with a common key take the same
 * turn, or turns in their order: so the order of the group holds wherever it matters. Not thread-safe.
 */
final class GroupTurns {

    /** An operation of the group, with what became of it. */
    private static final class Member {

        private final int place;
        private final Operation operation;
        private final JointRequest request;
        private final List<Question> questions = new ArrayList<>(1);
        private int turn;

        private Member(int place, Operation operation, Placement placement) {
            this.place = place;
            this.operation = operation;
            this.request = new JointRequest(
                    operation, demand -> placement.of(demand.key().subject()));
        }

        private boolean isJoint() {
            return operation.kind() == Kind.DECIDE && request.parts().size() > 1;
        }

        /** Whether one of several shards was not reached, and another may have changed something. */
        private boolean isHalfDone() {
            return isJoint()
                    ? request.failure() instanceof UnreachedStoreException
                    : operation.kind() == Kind.SETTLE
                            && questions.size() > 1
                            && !questions.stream().allMatch(Question::isSurelyUndone);
        }
    }

    private final ParallelCalls calls;
    private final JointDecisions joint;
    private final List<Member> members = new ArrayList<>();
    private int turns;

    /**
     * @param places of the operations to decide
     */
    GroupTurns(
            ParallelCalls calls,
            JointDecisions joint,
            List<Operation> group,
            List<Integer> places,
            Placement placement) {
        this.calls = calls;
        this.joint = joint;
        Map<StateKey, Integer> turnOf = new HashMap<>();
        for (int place : places) {
            Member member = new Member(place, group.get(place), placement);
            member.turn = turn(member, turnOf);
            turns = Math.max(turns, member.turn + 1);
            members.add(member);
        }
    }

    private static int turn(Member member, Map<StateKey, Integer> turnOf) {
        int turn = member.isJoint() ? 1 : 0;
        for (Demand demand : member.operation.demands()) {
            int earliest = turnOf.getOrDefault(demand.key(), turn);
            turn = Math.max(turn, earliest % 2 == turn % 2 ? earliest : earliest + 1);
        }
        for (Demand demand : member.operation.demands()) {
            turnOf.put(demand.key(), turn);
        }
        return turn;
    }

    /**
     * @param end the deadline, in the time of {@link System#nanoTime()}
     */
    void decide(GroupOutcome outcome, long end) {
        for (int turn = 0; turn < turns; turn++) {
            int now = turn;
            List<Member> due =
                    members.stream().filter(member -> member.turn == now).toList();
            if (turn % 2 == 0) {
                decideApart(due, end);
            } else {
                joint.decide(due.stream().map(member -> member.request).toList(), end);
            }
        }
        for (Member member : members) {
            LimitStoreException failure = member.request.failure();
            if (failure == null) {
                outcome.answered(member.place, member.request.answer());
            } else {
                outcome.failed(
                        member.place, member.isHalfDone() ? plain(failure) : failure, member.request.failedShards());
            }
        }
    }

    /** One that says that nothing was changed would have a refund made twice. */
    private static LimitStoreException plain(LimitStoreException e) {
        return new LimitStoreException(String.valueOf(e.getMessage()), e);
    }

    /** Decides operations on one shard, and those whose parts on several have nothing to do with each other. */
    private void decideApart(List<Member> due, long end) {
        List<Question> questions = new ArrayList<>();
        for (Member member : due) {
            boolean alone = member.request.parts().size() == 1;
            for (JointRequest.Part part : member.request.parts()) {
                member.questions.add(
                        alone ? new Question(part.shard, member.operation) : part.question(member.operation.kind()));
            }
            questions.addAll(member.questions);
        }
        if (questions.isEmpty()) {
            return;
        }
        calls.ask(questions, end, joint::answeredLate);
        for (Member member : due) {
            for (int i = 0; i < member.questions.size(); i++) {
                Question question = member.questions.get(i);
                if (question.isAnswered()) {
                    joint.observe(question.shard, question.operation, question.answer());
                }
                member.request.take(member.request.parts().get(i), question);
            }
        }
    }
}
