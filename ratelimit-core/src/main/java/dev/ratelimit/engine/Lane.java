package dev.ratelimit.engine;

import dev.ratelimit.engine.queue.GroupQueue;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.engine.queue.UndecidedException;

/** A way to the store: a queue, and the parts of the store that its requests need. */
interface Lane {

    /** Returns if the parts that the operation needs may be asked; else throws the last failure of one of them. */
    void check(Pending pending) throws UndecidedException;

    GroupQueue queue();

    /** The store has decided. */
    void decided(Pending pending);

    /** A caller goes without an answer of the store. */
    void undecided(Pending pending, UndecidedException e);
}
