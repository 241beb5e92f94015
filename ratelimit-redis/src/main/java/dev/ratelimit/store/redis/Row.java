package dev.ratelimit.store.redis;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.StateKey;

/** One key of a group: its value as far as it is known, and as it was decided. Not thread-safe. */
final class Row {

    final StateKey key;
    final byte[] name;
    final int slot;

    /** With which it is written in this round. */
    Unit unit = new Unit(this);

    private Stored known;
    private Stored next;
    private boolean isDecidedAnew;

    /** Whether another process has changed it meanwhile, in this round. */
    private boolean isLost;

    /** Whether the server has said during this call that the known value is the stored one. */
    private boolean isConfirmed;

    /**
     * @param remembered its value, as far as this process knows
     */
    Row(StateKey key, byte[] name, int slot, Stored remembered) {
        this.key = key;
        this.name = name;
        this.slot = slot;
        this.known = remembered;
        this.next = known;
    }

    /** Begins a round: nothing is decided yet. */
    void begin() {
        next = known;
        isDecidedAnew = false;
        isLost = false;
        unit = new Unit(this);
    }

    State state() {
        return next.state();
    }

    Violations violations() {
        return next.violations();
    }

    void write(State state) {
        next = new Stored(next.version(), state, next.violations());
        isDecidedAnew = true;
    }

    void write(Violations violations) {
        next = new Stored(next.version(), next.state(), violations);
        isDecidedAnew = true;
    }

    void remove() {
        next = new Stored(next.version(), State.FRESH, Violations.NONE);
        isDecidedAnew = true;
    }

    boolean isChanged() {
        return isDecidedAnew && !(known.isNone() && isToBeDeleted());
    }

    boolean isToBeDeleted() {
        return next.state().isFresh() && next.violations().isNone();
    }

    Stored known() {
        return known;
    }

    boolean isConfirmed() {
        return isConfirmed;
    }

    /** The decided value, with a version of its own. */
    Stored versioned(long version) {
        next = new Stored(version, next.state(), next.violations());
        return next;
    }

    /** The known value is the stored one. */
    void confirm() {
        isConfirmed = true;
    }

    /** The decided value is the stored one. */
    void markWritten() {
        known = isToBeDeleted() ? Stored.NONE : next;
        next = known;
        isDecidedAnew = false;
        confirm();
    }

    /** Another value is the stored one. */
    void found(Stored stored) {
        known = stored;
        isLost = true;
        confirm();
    }

    boolean isLost() {
        return isLost;
    }
}
