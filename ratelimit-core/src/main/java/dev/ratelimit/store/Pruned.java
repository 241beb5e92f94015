package dev.ratelimit.store;

/**
 * What one step of pruning did.
 *
 * @param states how many rows of state were deleted
 * @param penalties how many forgotten counts of violations were deleted
 */
public record Pruned(long states, long penalties, Progress progress) {

    /** How far the pass over the rows has come. */
    public enum Progress {
        /** There are more rows to look at. */
        MORE,
        /** The end of the rows is reached; the next step begins anew. */
        FINISHED,
        /** Somebody else was writing: nothing was done. */
        BUSY
    }

    public static final Pruned NOTHING_WHILE_BUSY = new Pruned(0, 0, Progress.BUSY);
}
