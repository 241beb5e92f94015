package dev.ratelimit.benchmark.load;

import dev.ratelimit.benchmark.peer.Peer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;

/** Callers that ask one after another, each as soon as it has its answer: a closed loop. */
public record Load(int callers, int keys) {

    /** Where the latencies of a run are counted: each power of two of nanoseconds in so many steps. */
    private static final int STEPS = 16;

    private static final int SLOTS = 64 * STEPS;

    /**
     * @param perSecond decisions
     * @param p50 microseconds
     * @param p99 microseconds
     */
    public record Result(
            double perSecond, double p50, double p99, long decided, long[] admittedByKey, long[] deniedByKey) {

        public long admitted() {
            return Arrays.stream(admittedByKey).sum();
        }
    }

    private static final class Caller extends Thread {

        private final Peer peer;
        private final SplittableRandom random;
        private final int keys;
        private final long most;
        private final long nanos;
        private final CountDownLatch start;
        private final long[] latencies = new long[SLOTS];
        private long decided;
        private final long[] admitted;
        private final long[] denied;
        private volatile Throwable failure;

        Caller(Peer peer, int number, int keys, long most, long nanos, CountDownLatch start) {
            super("caller-" + number);
            this.peer = peer;
            this.random = new SplittableRandom(number * 7919L + 17);
            this.keys = keys;
            this.admitted = new long[keys];
            this.denied = new long[keys];
            this.most = most;
            this.nanos = nanos;
            this.start = start;
        }

        @Override
        public void run() {
            try {
                start.await();
                long begin = System.nanoTime();
                long before = begin;
                while (decided < most && before - begin < nanos) {
                    int key = keys == 1 ? 0 : random.nextInt(keys);
                    if (peer.decide(key)) {
                        admitted[key]++;
                    } else {
                        denied[key]++;
                    }
                    decided++;
                    long after = System.nanoTime();
                    latencies[slot(after - before)]++;
                    before = after;
                }
            } catch (Throwable e) {
                failure = e;
            }
        }
    }

    /** Runs for so long. */
    public Result run(Peer peer, double seconds) throws Exception {
        return run(peer, Long.MAX_VALUE, (long) (seconds * 1e9));
    }

    /** Each caller asks so many times. */
    public Result runTimes(Peer peer, long timesEach) throws Exception {
        return run(peer, timesEach, Long.MAX_VALUE);
    }

    private Result run(Peer peer, long most, long nanos) throws Exception {
        CountDownLatch start = new CountDownLatch(1);
        List<Caller> all = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            Caller caller = new Caller(peer, i, keys, most, nanos, start);
            caller.setDaemon(true);
            caller.start();
            all.add(caller);
        }
        long begin = System.nanoTime();
        start.countDown();
        for (Caller caller : all) {
            caller.join();
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        long[] latencies = new long[SLOTS];
        long decided = 0;
        long[] admitted = new long[keys];
        long[] denied = new long[keys];
        for (Caller caller : all) {
            if (caller.failure != null) {
                throw new IllegalStateException("a caller failed", caller.failure);
            }
            add(latencies, caller.latencies);
            decided += caller.decided;
            add(admitted, caller.admitted);
            add(denied, caller.denied);
        }
        return new Result(
                decided / seconds, percentile(latencies, 0.5), percentile(latencies, 0.99), decided, admitted, denied);
    }

    private static void add(long[] sums, long[] added) {
        Arrays.setAll(sums, i -> sums[i] + added[i]);
    }

    private static int slot(long nanos) {
        long n = Math.max(STEPS, nanos);
        int power = 63 - Long.numberOfLeadingZeros(n);
        return power * STEPS + (int) ((n >>> (power - 4)) & (STEPS - 1));
    }

    private static double percentile(long[] latencies, double part) {
        long total = Arrays.stream(latencies).sum();
        long seen = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            seen += latencies[slot];
            if (seen >= total * part) {
                int power = slot / STEPS;
                return (1L << power) * (1 + (slot % STEPS + 0.5) / STEPS) / 1000;
            }
        }
        return 0;
    }
}
