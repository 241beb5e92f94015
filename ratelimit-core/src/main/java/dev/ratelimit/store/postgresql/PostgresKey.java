package dev.ratelimit.store.postgresql;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.Admission;
import dev.ratelimit.algorithm.Check;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.postgresql.PostgresDenials.Denial;
import dev.ratelimit.store.postgresql.admission.AdmissionFragment;
import org.jspecify.annotations.Nullable;

/** One key of a group, with all that the group asks of it. Not thread-safe. */
final class PostgresKey {

    /** How it is decided. The ways are in the order of what they can do. */
    enum Way {
        /** By the admission statement. */
        ADMIT,
        /** By a read, since nothing is expected to change. */
        READ,
        /** In Java, on the locked row. */
        LOCK
    }

    private final StateKey key;
    private final Limit limit;
    private final @Nullable AdmissionFragment fragment;
    private Way way;
    private int number;
    private long taken;
    private int decisions;
    private int peeks;
    private @Nullable Admission admission;
    private @Nullable State admitted;

    PostgresKey(StateKey key, Limit limit, @Nullable AdmissionFragment fragment) {
        this.key = key;
        this.limit = limit;
        this.fragment = fragment;
        this.way = Way.ADMIT;
    }

    StateKey key() {
        return key;
    }

    Limit limit() {
        return limit;
    }

    @Nullable
    AdmissionFragment fragment() {
        return fragment;
    }

    Way way() {
        return way;
    }

    /** Its number among the keys of the statement. */
    int number() {
        return number;
    }

    void number(int among) {
        number = among;
    }

    /** Decides it in that way, unless it needs one that can do more. */
    boolean raise(Way needed) {
        boolean raised = needed.compareTo(way) > 0;
        way = raised ? needed : way;
        return raised;
    }

    void peek() {
        peeks++;
    }

    /** Adds a decision. With a {@code min-interval}, at most the first of several at the same moment can be admitted. */
    void decide(Demand demand, boolean linked) {
        boolean plain = fragment != null && demand.debt() == null && limit.equals(demand.limit());
        boolean first = decisions++ == 0;
        if (!limit.hasMinInterval()) {
            taken += demand.cost();
        } else if (first) {
            taken = demand.cost();
        }
        if (!plain || taken > limit.capacity() || (limit.hasMinInterval() && linked && !first)) {
            raise(Way.LOCK);
        }
    }

    /** Chooses the way, once all is added. */
    void choose(@Nullable Denial expected) {
        if (decisions == 0) {
            raise(Way.READ);
        } else if (peeks > 0) {
            raise(Way.LOCK);
        } else if (expected != null && way == Way.ADMIT) {
            boolean counts = !limit.penalties().isEmpty() && !expected.blocked();
            raise(counts ? Way.LOCK : Way.READ);
        }
    }

    /** The permits that the statement takes. */
    long taken() {
        return taken;
    }

    void admitted(Admission charged, State after) {
        admission = charged;
        admitted = after;
    }

    /** The statement has left it alone, or was undone. */
    void notAdmitted() {
        admission = null;
        admitted = null;
        raise(Way.LOCK);
    }

    boolean isAdmitted() {
        return admission != null;
    }

    long now() {
        return admission == null ? 0 : admission.now();
    }

    /** The answer to the next demand, or {@code null} if it has to be decided in Java after all. */
    @Nullable
    Verdict next(Demand demand) {
        if (admission == null || admitted == null) {
            return null;
        }
        if (!limit.hasMinInterval()) {
            return admission.next(demand.cost());
        }
        if (taken > 0) {
            taken = 0;
            return admission.next(demand.cost());
        }
        boolean known = limit.penalties().isEmpty() && fragment != null && fragment.countIsComplete();
        return known ? Check.of(limit, admitted, admission.now(), demand.cost()).verdict() : null;
    }
}
