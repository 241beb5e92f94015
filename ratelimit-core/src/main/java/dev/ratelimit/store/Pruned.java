package dev.ratelimit.store;

/**
 * The result of one step of pruning.
 *
 * @param states how many rows of state were deleted
 * @param penalties how many forgotten counts of violations were deleted
 */
public record Pruned(long states, long penalties, Progress progress) {

    /** How far the pass over the rows has come. */
    public enum Progress {
        /** There are more rows to look at. */
        MORE,
        /** There are more rows to look at, and a quarter or more of this step had expired. */
        MANY_EXPIRED,
        /** The end of the rows is reached; the next step begins anew. */
        FINISHED,
        /** Another process was writing: nothing was done. */
        BUSY
    }

    /** The progress after a step that has not reached the end of the rows. */
    public static Progress more(long deleted, long lookedAt) {
        return deleted > 0 && deleted * 4 >= lookedAt ? Progress.MANY_EXPIRED : Progress.MORE;
    }

    public static final Pruned NOTHING_WHILE_BUSY = new Pruned(0, 0, Progress.BUSY);
}
