package dev.ratelimit.engine.local;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Check;
import dev.ratelimit.algorithm.Debt;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One subject on one limit: the last answer of the store, and the debt of permits that were granted here since.
 *
 * <p>The account is open while something was granted here or is foreseen. It then has two states: before the first of these
 * charges, and after all of them. The debt is the difference. Not thread-safe: {@link LocalDecisions} holds its lock.
 */
final class LocalAccount {

    private final @Nullable Subject subject;
    private final int instances;
    private Limit limit;
    private @Nullable Verdict lastAnswer;
    private long answeredAt;

    /** How many requests are at the store. */
    private int underWay;

    /** Both {@code null} unless the account is open. */
    private @Nullable State before;

    private @Nullable State after;

    /** How many requests were granted here that the store does not know of. */
    private int owed;

    /** The state after the debt that a call at the store carries, and how many requests that debt is. */
    private @Nullable State sent;

    private int owedSent;

    private boolean isSending;

    /** Whether the store has answered since the debt was sent, and the states are still those of before. */
    private boolean isBehind;

    private Violations violations = Violations.NONE;

    /** The number of debts that were charged: a later debt is another one. */
    private long era;

    /**
     * @param subject {@code null} if several subjects share the account
     * @param instances the number of instances that share the limit
     */
    LocalAccount(@Nullable Subject subject, Limit limit, int instances) {
        this.subject = subject;
        this.limit = limit;
        this.instances = instances;
    }

    boolean isShared() {
        return subject == null;
    }

    /** Whether no request is under way and no debt is left, so that the account may be dropped. */
    boolean isIdle() {
        return underWay == 0 && before == null;
    }

    boolean isOpen() {
        return after != null;
    }

    long era() {
        return era;
    }

    /** A request goes to the store. */
    void goes() {
        underWay++;
    }

    /** The demand with the debt, unless an earlier operation of the group carries it. */
    Demand withDebt(Kind kind, Demand demand) {
        State from = before;
        State to = after;
        if (from == null || to == null || sent != null) {
            return demand;
        }
        if (kind != Kind.PEEK) {
            sent = to;
            owedSent = owed;
        }
        return demand.withDebt(new Debt(limit.share(instances), from, to));
    }

    /** An operation that brings the debt to the store by itself; {@code null} if a call does so already. */
    @Nullable
    Operation due(long now) {
        if (subject == null || isSending || underWay > 0) {
            return null;
        }
        isSending = true;
        return new Operation(Kind.SETTLE, List.of(new Demand(subject, limit, 0, new Charge(now, 0, 0))));
    }

    /**
     * The store has answered a decision or a settlement.
     *
     * @param asked the limit of that operation
     * @param carried whether the call has charged the debt, as it was when it was sent
     */
    void answered(Kind kind, Limit asked, Verdict verdict, long now, boolean carried) {
        if (kind == Kind.DECIDE) {
            underWay--;
        }
        isSending = false;
        limit = asked;
        lastAnswer = verdict;
        answeredAt = now;
        if (carried || sent == null) {
            goOn(carried);
        } else {
            isBehind = true; // whether this answer counts the debt that another call carries is not known
        }
    }

    /** Begins again from the answer: the rest of the debt is owed on top of it. */
    private void goOn(boolean carried) {
        State to = after;
        State from = carried ? sent : before;
        if (to == null || from == null) {
            return;
        }
        isBehind = false;
        if (carried) {
            sent = null;
            owed -= owedSent;
            owedSent = 0;
        }
        if (owed <= 0) {
            close();
            return;
        }
        Limit share = limit.share(instances);
        State known = inNumbersOf(share, known(), answeredAt);
        before = known;
        after = known.with(new Debt(share, from, to), share, answeredAt);
    }

    /** The store has forgotten the subject. */
    void reset() {
        close();
        lastAnswer = null;
    }

    private void close() {
        before = null;
        after = null;
        sent = null;
        owed = 0;
        owedSent = 0;
        isBehind = false;
        era++;
    }

    /**
     * A call has failed.
     *
     * @param carried whether it carried the debt, which is still owed then
     */
    void failed(Kind kind, boolean carried) {
        isSending = false;
        if (carried) {
            sent = null;
            owedSent = 0;
        }
        if (carried && isBehind) {
            goOn(false);
        }
        if (kind == Kind.DECIDE) {
            underWay--;
        }
    }

    /** The operation that was to bring the debt was not sent. */
    void notSent() {
        isSending = false;
    }

    /** Opens the account for a decision by that share of the limit. */
    void open(Limit share, long now) {
        if (after == null) {
            State known = inNumbersOf(share, known(), now);
            before = known;
            after = known;
        }
    }

    /** Closes the account again if the decision has changed nothing. */
    void closeUnlessChanged() {
        if (before != null && before.equals(after)) {
            before = null;
            after = null;
            owed = 0;
        }
    }

    /** A caller was told that its request is granted. */
    void grant() {
        owed++;
    }

    /**
     * Takes back a charge that was made here: the store has made it, too, or no caller was told of it.
     *
     * @param told whether a caller was told
     */
    void takeOut(Limit asked, Charge charge, boolean told, long now) {
        if (after != null) {
            after = Check.of(asked.share(instances), after, now, 0).settled(charge);
            owed -= told ? 1 : 0;
        }
    }

    /**
     * Settles a charge that was made here.
     *
     * @param madeIn the era of the charge
     * @return {@code false} if the store was charged meanwhile, and must settle
     */
    boolean settle(Demand demand, long madeIn, long now) {
        Charge charge = demand.charge();
        if (after == null || charge == null || era != madeIn) {
            return false;
        }
        after = Check.of(demand.limit().share(instances), after, now, demand.cost())
                .settled(charge);
        return true;
    }

    /** The state after all charges. The account must be open. */
    State state() {
        return Objects.requireNonNull(after);
    }

    void write(State state) {
        after = state;
    }

    Violations violations() {
        return violations;
    }

    void write(Violations counted) {
        violations = counted;
    }

    /** The last known state. */
    private State known() {
        return lastAnswer == null ? State.FRESH : lastAnswer.state(limit, answeredAt);
    }

    private static State inNumbersOf(Limit limit, State state, long now) {
        return Check.of(limit, state, now, 0).unchanged();
    }
}
