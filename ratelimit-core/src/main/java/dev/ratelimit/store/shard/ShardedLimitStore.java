package dev.ratelimit.store.shard;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One store over several. All state of a subject is in one of them: see {@link Rendezvous}.
 *
 * <ol>
 *   <li>A group on one shard goes to its store as it is.
 *   <li>Otherwise each shard gets its part of the group, and all are asked at once.
 *   <li>Requests over subjects on several shards are decided by {@link JointDecisions}. An operation that shares a key with
 *       such a request waits for it, or the request waits for the operation, so that the order of the group holds.
 *   <li>If a shard fails, the answers of the others are kept.
 * </ol>
 *
 * Safe for use by many threads.
 */
public final class ShardedLimitStore implements LimitStore {

    private final List<Shard> shards;
    private final Rendezvous rendezvous;
    private final long deadlineNanos;
    private final ParallelCalls calls;
    private final Refunds refunds;
    private final JointDecisions joint;
    private final KnownRoom known = new KnownRoom();
    private int pruned;
    private @Nullable LimitStoreException notPruned;

    /**
     * @param shards no two of the same name; they are closed with this store
     * @param deadline the longest time that a call takes
     */
    public ShardedLimitStore(List<Shard> shards, Duration deadline) {
        this.shards =
                shards.stream().sorted(Comparator.comparing(Shard::name)).toList();
        List<String> names = this.shards.stream().map(Shard::name).toList();
        if (new HashSet<>(names).size() < names.size() || names.isEmpty()) {
            throw new IllegalArgumentException("the shards are " + names + "; each needs a name of its own");
        }
        this.rendezvous = new Rendezvous(names);
        this.deadlineNanos = deadline.toNanos();
        this.calls = new ParallelCalls(this.shards);
        this.refunds = new Refunds(this.shards);
        this.joint = new JointDecisions(calls, refunds, known, this.shards.size());
    }

    /** The shards, in the order of their names. */
    public List<Shard> shards() {
        return shards;
    }

    private int shardOf(Demand demand) {
        return part(demand.key());
    }

    /** The shard of all demands; negative if they are on several. */
    private int shardOf(Operation operation) {
        int shard = shardOf(operation.demands().get(0));
        for (int i = 1; i < operation.demands().size(); i++) {
            if (shardOf(operation.demands().get(i)) != shard) {
                return -1;
            }
        }
        return shard;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        int[] shardOf = new int[group.size()];
        boolean several = false;
        for (int i = 0; i < shardOf.length; i++) {
            shardOf[i] = shardOf(group.get(i));
            several |= shardOf[i] < 0 || shardOf[i] != shardOf[0];
        }
        if (shardOf.length == 0) {
            return List.of();
        }
        return several ? decideOnSeveral(group, shardOf) : decideOnOne(group, shardOf[0]);
    }

    private List<Answer> decideOnOne(List<Operation> group, int shard) {
        List<Answer> answers = shards.get(shard).store().decide(group);
        for (int i = 0; i < answers.size(); i++) {
            joint.observe(shard, group.get(i), answers.get(i));
        }
        return answers;
    }

    /** An operation of the group, with what became of it. */
    private static final class Member {

        private final Operation operation;
        private final int shard;
        private int level;
        private final List<Question> questions = new ArrayList<>(1);
        private @Nullable JointRequest request;

        private Member(Operation operation, int shard) {
            this.operation = operation;
            this.shard = shard;
        }

        private boolean isJoint() {
            return shard < 0 && operation.kind() == Kind.DECIDE;
        }
    }

    private List<Answer> decideOnSeveral(List<Operation> group, int[] shardOf) {
        long end = System.nanoTime() + deadlineNanos;
        List<Member> members = new ArrayList<>(group.size());
        int levels = 0;
        Map<StateKey, Integer> levelOf = new HashMap<>();
        for (int i = 0; i < shardOf.length; i++) {
            Member member = new Member(group.get(i), shardOf[i]);
            member.level = level(member, levelOf);
            levels = Math.max(levels, member.level + 1);
            members.add(member);
        }
        for (int level = 0; level < levels; level++) {
            int now = level;
            List<Member> turn =
                    members.stream().filter(member -> member.level == now).toList();
            if (level % 2 == 0) {
                decideApart(turn, end);
            } else {
                decideJointly(turn, end);
            }
        }
        return answers(members);
    }

    /** Joint requests take odd turns. Operations with a common key take the same turn, or turns in their order. */
    private static int level(Member member, Map<StateKey, Integer> levelOf) {
        int level = member.isJoint() ? 1 : 0;
        for (Demand demand : member.operation.demands()) {
            int earliest = levelOf.getOrDefault(demand.key(), level);
            level = Math.max(level, earliest % 2 == level % 2 ? earliest : earliest + 1);
        }
        for (Demand demand : member.operation.demands()) {
            levelOf.put(demand.key(), level);
        }
        return level;
    }

    /** Decides operations whose parts on several shards have nothing to do with each other. */
    private void decideApart(List<Member> members, long end) {
        List<Question> questions = new ArrayList<>();
        for (Member member : members) {
            if (member.shard >= 0) {
                member.questions.add(new Question(member.shard, member.operation));
            } else {
                JointRequest request = new JointRequest(member.operation, this::shardOf);
                member.request = request;
                request.parts()
                        .forEach(part -> member.questions.add(part.question(member.operation.kind())));
            }
            questions.addAll(member.questions);
        }
        if (questions.isEmpty()) {
            return;
        }
        calls.ask(questions, end, late -> {});
        for (Question question : questions) {
            if (question.isAnswered()) {
                joint.observe(question.shard, question.operation, question.answer());
            }
        }
        for (Member member : members) {
            JointRequest request = member.request;
            if (request != null) {
                for (int i = 0; i < member.questions.size(); i++) {
                    request.take(request.parts().get(i), member.questions.get(i));
                }
            }
        }
    }

    private void decideJointly(List<Member> members, long end) {
        List<JointRequest> requests = new ArrayList<>();
        for (Member member : members) {
            JointRequest request = new JointRequest(member.operation, this::shardOf);
            member.request = request;
            requests.add(request);
        }
        joint.decide(requests, end);
    }

    private List<Answer> answers(List<Member> members) {
        List<@Nullable Answer> answers = new ArrayList<>(members.size());
        List<LimitStoreException> failures = new ArrayList<>();
        Set<Integer> failedShards = new TreeSet<>();
        for (Member member : members) {
            LimitStoreException failure = failure(member);
            if (failure == null) {
                answers.add(
                        member.request != null
                                ? member.request.answer()
                                : member.questions.get(0).answer());
            } else {
                answers.add(null);
                failures.add(failure);
                failedShards.addAll(member.request == null ? Set.of(member.shard) : member.request.failedShards());
            }
        }
        if (!failures.isEmpty()) {
            throw failed(answers, failures, failedShards);
        }
        return answers.stream().map(Objects::requireNonNull).toList();
    }

    private static @Nullable LimitStoreException failure(Member member) {
        return member.request != null
                ? member.request.failure()
                : member.questions.get(0).failure();
    }

    private static LimitStoreException failed(
            List<@Nullable Answer> answers, List<LimitStoreException> failures, Set<Integer> failedShards) {
        Set<StateKey> locked = new HashSet<>();
        for (LimitStoreException failure : failures) {
            if (!(failure instanceof LockedKeysException keys)) {
                return new LimitStoreException(String.valueOf(failure.getMessage()), answers, failedShards, failure);
            }
            locked.addAll(keys.keys());
        }
        return new LockedKeysException(locked, answers, failures.get(0));
    }

    /** While all of them do: the caller's thread asks one of them itself. */
    @Override
    public boolean answersInTime() {
        return shards.stream().allMatch(shard -> shard.store().answersInTime());
    }

    @Override
    public int groupsAtOnce() {
        return shards.get(0).store().groupsAtOnce();
    }

    /** The shard of the subject. */
    @Override
    public int part(StateKey key) {
        return rendezvous.of(key.subject());
    }

    @Override
    public boolean isContended(StateKey key) {
        return shards.get(part(key)).store().isContended(key);
    }

    @Override
    public @Nullable InstantSource clock() {
        return shards.get(0).store().clock();
    }

    /** Prunes one shard after the other. A shard that fails does not keep the others waiting. */
    @Override
    public synchronized Pruned prune(long keepMicros) {
        Pruned step;
        try {
            step = shards.get(pruned).store().prune(keepMicros);
        } catch (LimitStoreException e) {
            notPruned = e;
            step = new Pruned(0, 0, Pruned.Progress.FINISHED);
        }
        if (step.progress() != Pruned.Progress.FINISHED) {
            return step;
        }
        pruned = (pruned + 1) % shards.size();
        if (pruned > 0) {
            long deleted = step.states() + step.penalties();
            return new Pruned(step.states(), step.penalties(), Pruned.more(deleted, deleted));
        }
        LimitStoreException failure = notPruned;
        notPruned = null;
        if (failure != null) {
            throw failure;
        }
        return step;
    }

    @Override
    public void close() {
        refunds.close();
        calls.close();
        shards.forEach(shard -> shard.store().close());
    }
}
