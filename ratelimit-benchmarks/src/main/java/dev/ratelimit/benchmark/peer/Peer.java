package dev.ratelimit.benchmark.peer;

/** Something that decides whether requests may pass: buckets of one size, one for each key. */
public interface Peer extends AutoCloseable {

    /** Whether a request of that key may pass. Called by many threads. */
    boolean decide(int key) throws Exception;

    /** How many requests of the key were admitted, as the store knows it; negative if it cannot be asked. */
    default long admitted(int key) throws Exception {
        return -1;
    }

    @Override
    default void close() throws Exception {}
}
