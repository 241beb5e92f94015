package dev.ratelimit.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Collects on the threads of requests, without a queue between them and without a thread that must keep up. Each thread adds to
 * one of a few parts. Threads rarely meet in a part, and hold its lock for less than a microsecond. {@link #drain} takes each
 * part and leaves an empty one.
 */
final class Stripes<T> {

    private static final int MOST = 16;

    private final Supplier<T> empty;
    private final List<Stripe<T>> stripes = new ArrayList<>();
    private final int mask;

    private static final class Stripe<T> {
        private T part;

        private Stripe(T part) {
            this.part = part;
        }

        private synchronized void add(Consumer<T> addition) {
            addition.accept(part);
        }

        private synchronized T take(T next) {
            T taken = part;
            part = next;
            return taken;
        }
    }

    Stripes(Supplier<T> empty) {
        this.empty = empty;
        int processors = Runtime.getRuntime().availableProcessors();
        int count = Math.min(MOST, Integer.highestOneBit(Math.max(1, processors * 2 - 1)) * 2);
        for (int i = 0; i < count; i++) {
            stripes.add(new Stripe<>(empty.get()));
        }
        this.mask = count - 1;
    }

    void add(Consumer<T> addition) {
        stripes.get((int) Thread.currentThread().getId() & mask).add(addition);
    }

    /** Everything that was added before. Later additions are in the next one. */
    List<T> drain() {
        List<T> parts = new ArrayList<>();
        for (Stripe<T> stripe : stripes) {
            parts.add(stripe.take(empty.get()));
        }
        return parts;
    }
}
