package dev.ratelimit.benchmark.peer;

/** Something that decides whether requests may pass: buckets of one size, one for each key. */
public interface Peer extends AutoCloseable {

    /** Whether a request of that key may pass. Called by many threads. */
    boolean decide(int key) throws Exception;

    /**
     * Compares the state of the key in the store with the answers that its callers got so far. Does nothing where the store
     * cannot tell.
     *
     * @throws IllegalStateException if they differ
     */
    default void requireExact(int key, long admitted, long denied) throws Exception {}

    /** Refuses a count of the store that is not the count of the callers. */
    static void requireSame(String what, int key, long stored, long answered) {
        if (stored != answered) {
            throw new IllegalStateException("key " + key + " was " + what + " " + answered
                    + " times according to its callers, and " + stored + " times according to the store");
        }
    }

    @Override
    default void close() throws Exception {}
}
