package dev.ratelimit.engine.local;

import dev.ratelimit.Limit;
import dev.ratelimit.engine.queue.Bookkeeping;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides in this process while the store is unavailable, and charges the store afterwards.
 *
 * <ol>
 *   <li>The last answer of the store is kept for each subject and limit.
 *   <li>A local decision starts from that answer, on the store's last clock plus the time since. Before the first one,
 *       the answers to all requests at the store are foreseen, in their order, as the store will give them. A request
 *       at the store that is late gets the answer foreseen for it; one that is not there is decided after all of them.
 *       So both admit the same requests, even if only some of a group are late.
 *   <li>Permits that are granted here are a debt: the difference between the state before and after. The next operation
 *       that goes to the store for the subject carries it, and is decided after it was charged. The debts of other
 *       subjects are sent by themselves.
 *   <li>When the store has answered, a request that it has charged is taken out of the debt; so it is charged once. If it was
 *       denied here, its charge in the store is taken back.
 *   <li>If a call fails, its debt is kept. If the store had committed and only the reply was lost, it is charged twice.
 * </ol>
 *
 * One lock guards everything, since answers, debts and calls under way must change together. Nothing waits under the
 * lock.
 */
public final class LocalDecisions implements Bookkeeping {

    private static final int MOST_LOOKED_AT = 64;

    private final int instances;
    private final StoreClock clock;
    private final ReentrantLock lock = new ReentrantLock();

    private final LocalAccounts accounts;
    private final Set<StateKey> debtors = new LinkedHashSet<>();

    /** The groups at the store. */
    private final List<List<Pending>> atStore = new ArrayList<>();

    /**
     * @param instances how many instances share the limits: this one grants its share of them
     * @param clock the clock that the store was given, or {@code null}
     */
    public LocalDecisions(int instances, @Nullable InstantSource clock) {
        this.instances = instances;
        this.clock = new StoreClock(clock);
        this.accounts = new LocalAccounts(instances);
    }

    /**
     * An answer.
     *
     * @param eras the debts that hold its charges; {@code null} if the store has charged it
     */
    public record Granted(Answer answer, @Nullable Map<StateKey, Long> eras) {}

    @Override
    public List<Pending> send(List<Pending> group) {
        List<Pending> sent = new ArrayList<>(group.size());
        Set<StateKey> reset = new HashSet<>(0);
        lock.lock();
        try {
            for (Pending pending : group) {
                if (!pending.isDecidedHere()) {
                    pending.send(prepared(pending.operation, reset));
                    sent.add(pending);
                }
            }
            atStore.add(sent);
        } finally {
            lock.unlock();
        }
        return sent;
    }

    @Override
    public void returned(List<Pending> group) {
        lock.lock();
        try {
            atStore.removeIf(sent -> sent == group);
        } finally {
            lock.unlock();
        }
    }

    /**
     * The operation with the debts of its subjects.
     *
     * @param reset the keys that an operation before it in the group resets: their debts are forgotten
     */
    private Operation prepared(Operation operation, Set<StateKey> reset) {
        boolean owes = false;
        for (Demand demand : operation.demands()) {
            if (operation.kind() == Kind.DECIDE) {
                accounts.of(demand).goes();
            }
            owes |= !debtors.isEmpty() && debtors.contains(demand.key());
        }
        if (!owes) {
            return operation;
        }
        if (operation.kind() == Kind.RESET) {
            operation.demands().forEach(demand -> reset.add(demand.key()));
            return operation;
        }
        List<Demand> demands = new ArrayList<>(operation.demands().size());
        for (Demand demand : operation.demands()) {
            demands.add(
                    reset.contains(demand.key()) ? demand : accounts.of(demand).withDebt(operation.kind(), demand));
        }
        return new Operation(operation.kind(), demands);
    }

    @Override
    public List<Operation> answered(List<Pending> sent, List<Answer> answers) {
        List<Operation> takenBack = new ArrayList<>(0);
        lock.lock();
        try {
            // First for all of them: the state after the answers must hold only charges that the store does not know
            // of.
            for (int i = 0; i < sent.size(); i++) {
                Operation refund = reconciled(sent.get(i), answers.get(i));
                if (refund != null) {
                    takenBack.add(refund);
                }
            }
            for (int i = 0; i < sent.size(); i++) {
                Pending pending = sent.get(i);
                for (int d = 0; d < pending.operation.demands().size(); d++) {
                    answered(pending, d, answers.get(i));
                }
            }
        } finally {
            lock.unlock();
        }
        return takenBack;
    }

    private @Nullable Operation reconciled(Pending pending, Answer answer) {
        clock.answered(answer.now());
        pending.answered(answer);
        Answer foreseen = pending.foreseen();
        boolean told = pending.isDecidedHere();
        if (foreseen != null && foreseen.allowed() && (!told || answer.allowed())) {
            takeOut(pending, foreseen, told);
        }
        return refund(pending, answer);
    }

    /** A request that was denied here, and that the store has charged since: as if it had never come there. */
    private static @Nullable Operation refund(Pending pending, Answer answer) {
        Answer here = pending.decidedHere();
        if (here == null || here.allowed() || !answer.allowed() || pending.operation.kind() != Kind.DECIDE) {
            return null;
        }
        List<Demand> demands = new ArrayList<>();
        for (int i = 0; i < pending.operation.demands().size(); i++) {
            Demand demand = pending.operation.demands().get(i);
            demands.add(new Demand(
                    demand.subject(),
                    demand.limit(),
                    0,
                    answer.verdicts().get(i).charge().withInterval()));
        }
        return new Operation(Kind.SETTLE, demands);
    }

    private void answered(Pending pending, int number, Answer answer) {
        Kind kind = pending.operation.kind();
        Demand demand = pending.operation.demands().get(number);
        if (kind == Kind.PEEK) {
            return;
        }
        LocalAccount account = accounts.of(demand);
        if (kind == Kind.RESET) {
            account.reset();
        } else {
            boolean carried = pending.sentDemand(number).debt() != null;
            account.answered(kind, demand.limit(), answer.verdicts().get(number), answer.now(), carried);
        }
        if (!debtors.isEmpty() && !account.isOpen()) {
            debtors.remove(demand.key());
        }
    }

    /**
     * Takes back a charge that was made here: the store has made it, too, or no caller was told of it.
     *
     * @param told whether a caller was told
     */
    private void takeOut(Pending pending, Answer charged, boolean told) {
        for (int d = 0; d < pending.operation.demands().size(); d++) {
            Demand demand = pending.operation.demands().get(d);
            accounts.of(demand)
                    .takeOut(demand.limit(), charged.verdicts().get(d).charge(), told, clock.now());
        }
    }

    @Override
    public void failed(List<Pending> sent) {
        lock.lock();
        try {
            for (Pending pending : sent) {
                pending.failed();
                for (int d = 0; d < pending.operation.demands().size(); d++) {
                    accounts.of(pending.operation.demands().get(d))
                            .failed(
                                    pending.operation.kind(),
                                    pending.sentDemand(d).debt() != null);
                }
                Answer foreseen = pending.foreseen();
                if (foreseen == null || pending.isDecidedHere()) {
                    continue;
                }
                if (pending.isDecidedHereOtherwise()) {
                    decidedHere(pending, foreseen); // which will be asked for
                } else if (foreseen.allowed()) {
                    takeOut(pending, foreseen, false);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Decides an operation that the store has not decided in time; by its answer if that has come meanwhile. */
    public Granted decide(Pending pending) {
        lock.lock();
        try {
            Answer late = pending.storeAnswer();
            if (late != null) {
                return new Granted(late, null);
            }
            Answer here = pending.decidedHere();
            if (here == null) {
                foreseeAll();
                Answer foreseen = pending.foreseen();
                here = foreseen != null ? foreseen : decide(pending.operation, false);
                decidedHere(pending, here);
            }
            Map<StateKey, Long> eras = new HashMap<>();
            for (Demand demand : pending.operation.demands()) {
                eras.put(demand.key(), accounts.of(demand).era());
            }
            return new Granted(here, eras);
        } finally {
            lock.unlock();
        }
    }

    /** Foresees the answers to all requests at the store that have none yet. */
    private void foreseeAll() {
        for (List<Pending> group : atStore) {
            for (Pending pending : group) {
                if (pending.isAtStore() && pending.foreseen() == null && pending.operation.kind() == Kind.DECIDE) {
                    pending.foresee(decide(pending.operation, true));
                }
            }
        }
    }

    /** A caller gets that answer. */
    private void decidedHere(Pending pending, Answer answer) {
        pending.decidedHere(answer);
        if (pending.operation.kind() == Kind.DECIDE && answer.allowed()) {
            for (Demand demand : pending.operation.demands()) {
                accounts.of(demand).grant();
            }
        }
    }

    /**
     * @param foreseeing whether it is at the store, which counts the violation if it is denied
     */
    private Answer decide(Operation operation, boolean foreseeing) {
        List<Demand> demands = new ArrayList<>(operation.demands().size());
        for (Demand demand : operation.demands()) {
            Limit share = demand.limit().share(instances);
            accounts.of(demand).open(share, clock.now());
            demands.add(demand.of(foreseeing ? withoutPenalties(share) : share));
        }
        Answer answer = new GroupArithmetic(accounts, clock.now()).decide(new Operation(operation.kind(), demands));
        for (Demand demand : operation.demands()) {
            LocalAccount account = accounts.of(demand);
            account.closeUnlessChanged();
            if (account.isOpen() && !account.isShared()) {
                debtors.add(demand.key());
            }
        }
        return answer;
    }

    private static Limit withoutPenalties(Limit limit) {
        return limit.penalties().isEmpty() ? limit : limit.withoutPenalties();
    }

    /**
     * Settles charges that were made here.
     *
     * @param settlements with the charge of each
     * @return the settlements of charges that the store holds by now, and must settle
     */
    public List<Demand> settle(List<Demand> settlements, Map<StateKey, Long> eras) {
        List<Demand> charged = new ArrayList<>();
        lock.lock();
        try {
            for (Demand demand : settlements) {
                long era = eras.getOrDefault(demand.key(), -1L);
                if (!accounts.of(demand).settle(demand, era, clock.now())) {
                    charged.add(demand);
                }
            }
        } finally {
            lock.unlock();
        }
        return charged;
    }

    @Override
    public List<Operation> due(int most, Predicate<StateKey> which) {
        List<Operation> due = new ArrayList<>(0);
        lock.lock();
        try {
            if (debtors.isEmpty()) {
                return due;
            }
            List<StateKey> passedOver = new ArrayList<>();
            for (StateKey key : debtors) {
                LocalAccount account = accounts.find(key);
                Operation operation = account == null || !which.test(key) ? null : account.due(clock.now());
                if (operation == null) {
                    passedOver.add(key);
                } else {
                    due.add(operation);
                }
                if (due.size() == most || passedOver.size() == MOST_LOOKED_AT) {
                    break;
                }
            }
            // To the end: those of a part that is down for long must not hide the others.
            passedOver.forEach(debtors::remove);
            debtors.addAll(passedOver);
        } finally {
            lock.unlock();
        }
        return due;
    }

    @Override
    public void notSent(Operation debt) {
        lock.lock();
        try {
            debt.demands().forEach(demand -> accounts.of(demand).notSent());
        } finally {
            lock.unlock();
        }
    }

    /** Forgets the answers of the store and all debts; calls under way are answered as they would have been. */
    public void forget() {
        lock.lock();
        try {
            accounts.clear();
            debtors.clear();
        } finally {
            lock.unlock();
        }
    }

    /** How many subjects owe something. */
    public int debts() {
        lock.lock();
        try {
            return debtors.size();
        } finally {
            lock.unlock();
        }
    }
}
