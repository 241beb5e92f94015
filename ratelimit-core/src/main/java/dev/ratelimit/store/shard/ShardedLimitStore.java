package dev.ratelimit.store.shard;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MovedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.swap.Refunds;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One store over several. All state of a subject is in one of them: see {@link Rendezvous}.
 *
 * <ol>
 *   <li>A group on one shard that answers in time goes to its store as it is.
 *   <li>Otherwise each shard gets its part of the group, and all are asked at once: see {@link GroupTurns}.
 *   <li>Requests over subjects on several shards are decided by {@link JointDecisions}.
 *   <li>If a shard fails, the answers of the others are kept.
 *   <li>While state moves to a new shard, {@link Takeover} brings it before the first decision. If a shard says that
 *       state has moved, the list of shards is read again. If there is no newer list, only requests for that state fail.
 * </ol>
 *
 * All of it has one deadline.
 *
 * Safe for use by many threads.
 */
public final class ShardedLimitStore implements LimitStore {

    private static final int SEVERAL = -1;

    private final List<Shard> shards;
    private final long deadlineNanos;
    private final ParallelCalls calls;
    private final Refunds refunds;
    private final JointDecisions joint;
    private final Takeover takeover;
    private final ShardWatch watch;
    private int pruned;
    private @Nullable LimitStoreException notPruned;

    /**
     * Opens it. If the shards have tables, it records or announces the list of shards.
     *
     * @param shards no two of the same name, in the order of the configuration; they are closed with this store
     * @param deadline the longest time that a call takes
     * @throws InvalidShardsException if the databases have another list
     */
    public ShardedLimitStore(List<Shard> shards, Duration deadline) {
        this(shards, deadline, ShardWatch.Timing.DEFAULT);
    }

    ShardedLimitStore(List<Shard> shards, Duration deadline, ShardWatch.Timing timing) {
        this.shards = shards.stream().sorted(Comparator.comparing(Shard::name)).toList();
        List<String> names = this.shards.stream().map(Shard::name).toList();
        if (new HashSet<>(names).size() < names.size() || names.isEmpty()) {
            throw new IllegalArgumentException("the shards are " + names + "; each needs a name of its own");
        }
        this.deadlineNanos = deadline.toNanos();
        this.calls = new ParallelCalls(this.shards, deadline);
        this.refunds = new Refunds("ratelimit-shard-refunds", refund -> decide(List.of(refund)));
        this.joint = new JointDecisions(calls, refunds, new KnownRoom(), this.shards.size());
        this.takeover = new Takeover(this.shards, deadline);
        this.watch = new ShardWatch(shards, this.shards, takeover, timing);
    }

    /** All configured shards, in the order of their names. */
    public List<Shard> shards() {
        return shards;
    }

    /**
     * Checks a shard that was {@linkplain ShardTables#isAwaited() unavailable at startup}, before it decides anything.
     *
     * @param late the shard of the same name, with tables that are available
     * @throws InvalidShardsException if it is another shard, or does not belong to the others
     */
    public void join(Shard late) {
        watch.join(late);
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        long end = System.nanoTime() + deadlineNanos;
        Placement placement = watch.placement();
        GroupOutcome outcome = new GroupOutcome(group);
        int only = placement.isMoving() ? SEVERAL : onlyShard(group, placement);
        if (only >= 0 && shards.get(only).store().answersInTime()) {
            try {
                return decideOnOne(group, only);
            } catch (MovedKeysException e) {
                outcome.failed(e);
            }
        } else {
            decideOpen(outcome, placement, end);
        }
        if (outcome.hasMoved()) {
            decideMoved(outcome, placement, end);
        }
        return outcome.answers();
    }

    /** Decides by a newer list, if there is one. The keys that still have moved are left out then: they fail nobody else. */
    private void decideMoved(GroupOutcome outcome, Placement placement, long end) {
        Placement newest = watch.readAgain(placement, end);
        if (newest.version != placement.version) {
            outcome.reopen();
            decideOpen(outcome, newest, end);
        }
        if (outcome.hasMoved()) {
            outcome.reopenOthers();
            decideOpen(outcome, newest, end);
        }
    }

    /** The shard of all operations; negative if they are on several, or on one that is unknown. */
    private static int onlyShard(List<Operation> group, Placement placement) {
        int only = group.isEmpty()
                ? SEVERAL
                : placement.of(group.get(0).demands().get(0).key().subject());
        for (Operation operation : group) {
            for (Demand demand : operation.demands()) {
                if (only < 0 || placement.of(demand.key().subject()) != only) {
                    return SEVERAL;
                }
            }
        }
        return only;
    }

    private List<Answer> decideOnOne(List<Operation> group, int shard) {
        List<Answer> answers = shards.get(shard).store().decide(group);
        for (int i = 0; i < answers.size(); i++) {
            joint.observe(shard, group.get(i), answers.get(i));
        }
        return answers;
    }

    /** Decides the operations that have neither an answer nor a failure. */
    private void decideOpen(GroupOutcome outcome, Placement placement, long end) {
        List<Integer> open = outcome.open();
        failUnknown(outcome, open, placement);
        if (placement.isMoving() && !open.isEmpty()) {
            bring(outcome, open, placement, end);
        }
        new GroupTurns(calls, joint, outcome.group(), open, placement).decide(outcome, end);
    }

    private static void failUnknown(GroupOutcome outcome, List<Integer> open, Placement placement) {
        if (placement.knowsAll()) {
            return;
        }
        open.removeIf(place -> {
            for (Demand demand : outcome.group().get(place).demands()) {
                if (placement.of(demand.key().subject()) == Placement.UNKNOWN) {
                    outcome.failed(
                            place,
                            new LimitStoreException(
                                    "the subject has moved to a shard that this instance does not know; configure the same"
                                            + " shards everywhere",
                                    new IllegalStateException("version " + placement.version)),
                            Set.of());
                    return true;
                }
            }
            return false;
        });
    }

    private void bring(GroupOutcome outcome, List<Integer> open, Placement placement, long end) {
        Map<StateKey, LimitStoreException> stuck =
                takeover.bring(open.stream().map(outcome.group()::get).toList(), placement, end);
        if (stuck.isEmpty()) {
            return;
        }
        open.removeIf(place -> {
            for (Demand demand : outcome.group().get(place).demands()) {
                LimitStoreException failure = stuck.get(demand.key());
                if (failure != null) {
                    outcome.failed(
                            place, failure, Set.of(placement.before(demand.key().subject())));
                    return true;
                }
            }
            return false;
        });
    }

    /** While no state moves: a shard that does not answer in time is asked on another thread. */
    @Override
    public boolean answersInTime() {
        return !watch.placement().isMoving();
    }

    @Override
    public int groupsAtOnce() {
        return shards.get(0).store().groupsAtOnce();
    }

    /** The number of the shard of the subject. */
    @Override
    public int part(StateKey key) {
        int shard = watch.placement().of(key.subject());
        return shard == Placement.UNKNOWN ? shards.size() : shard;
    }

    @Override
    public boolean isContended(StateKey key) {
        int shard = part(key);
        return shard < shards.size() && shards.get(shard).store().isContended(key);
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
        watch.close();
        takeover.close();
        refunds.close();
        calls.close();
        shards.forEach(shard -> shard.store().close());
    }
}
