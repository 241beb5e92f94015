package dev.ratelimit;

/** A request that was charged, or denied; the charge can be given back until the request is served. Safe for use by many threads. */
public interface Charged {

    /** The decision; if it denied, nothing was charged and there is nothing to give back. */
    Decision decision();

    /**
     * Takes the charge back as if the request had never come: its time no longer counts for {@code min-interval} either. Permits
     * of a lease go back to the lease while it is held. Give back once.
     *
     * @return whether it was done; {@code false} if the store failed, or if the lease is no longer held. You may call it again:
     *     it is repeated only if the store has surely not made it
     */
    boolean giveBack();
}
