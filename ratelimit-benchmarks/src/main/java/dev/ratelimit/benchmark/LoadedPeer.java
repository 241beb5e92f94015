package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.DatabaseTime;
import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.load.Load.Result;
import dev.ratelimit.benchmark.load.Turn;
import dev.ratelimit.benchmark.peer.Peer;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.function.Supplier;

/** A peer under a load. After every turn its store is compared with the answers of its callers. */
final class LoadedPeer extends Contender {

    /** How many keys are compared. */
    private static final int SAMPLE = 20;

    /** Opens the peer; for every turn anew if a turn uses it up. */
    interface Opening {
        Peer open(int number) throws Exception;
    }

    private final Load load;
    private final Opening opening;
    private final Supplier<DatabaseTime> clock;
    private final long timesEach;
    private final long burst;
    private final long[] admitted;
    private final long[] denied;
    private Peer peer;
    private int opened;

    private LoadedPeer(
            String name, Load load, Supplier<DatabaseTime> clock, Opening opening, long timesEach, long burst) {
        super(name);
        this.load = load;
        this.opening = opening;
        this.clock = clock;
        this.timesEach = timesEach;
        this.burst = burst;
        this.admitted = new long[load.keys()];
        this.denied = new long[load.keys()];
    }

    /** A peer that lasts for all turns. */
    static LoadedPeer lasting(String name, Load load, Supplier<DatabaseTime> clock, Opening opening) {
        return new LoadedPeer(name, load, clock, opening, 0, 0);
    }

    /**
     * A peer that denies nine in ten requests, on new keys in each turn.
     *
     * @param timesEach how often each caller asks
     */
    static LoadedPeer mostlyDenying(
            String name, Load load, Supplier<DatabaseTime> clock, long timesEach, Opening opening) {
        return new LoadedPeer(name, load, clock, opening, timesEach, timesEach * load.callers() / load.keys() / 10);
    }

    Load load() {
        return load;
    }

    @Override
    void warmUp(double seconds) throws Exception {
        if (timesEach == 0) {
            peer = opening.open(0);
            count(load.run(peer, seconds));
            requireExact();
        } else {
            run(seconds);
        }
    }

    @Override
    Turn run(double seconds) throws Exception {
        if (timesEach == 0) {
            Turn turn = timed(() -> load.run(peer, seconds));
            requireExact();
            return turn;
        }
        try (Peer fresh = opening.open(++opened)) {
            long before = total(admitted);
            Turn turn = timed(() -> load.runTimes(fresh, timesEach));
            long passed = total(admitted) - before;
            if (passed != burst * load.keys()) {
                throw new IllegalStateException(name() + ": the limits admit " + burst * load.keys() + " requests, and "
                        + passed + " were admitted");
            }
            return turn;
        }
    }

    private interface Run {
        Result run() throws Exception;
    }

    private Turn timed(Run run) throws Exception {
        DatabaseTime before = clock.get();
        Result result = run.run();
        double micros = clock.get().nanosSince(before) / 1e3 / result.decided();
        count(result);
        double deniedPart = 1 - (double) result.admitted() / result.decided();
        return new Turn(result.perSecond(), result.p50(), result.p99(), deniedPart, micros);
    }

    private void count(Result result) {
        for (int key = 0; key < admitted.length; key++) {
            admitted[key] += result.admittedByKey()[key];
            denied[key] += result.deniedByKey()[key];
        }
    }

    private static long total(long[] byKey) {
        return Arrays.stream(byKey).sum();
    }

    private void requireExact() throws Exception {
        // In steps of a prime: limits are dealt out to every second, third or twentieth key, and all kinds have to be
        // seen.
        int step =
                BigInteger.valueOf(admitted.length / SAMPLE).nextProbablePrime().intValue();
        for (int key = 0; key < admitted.length; key += step) {
            try {
                peer.requireExact(key, admitted[key], denied[key]);
            } catch (IllegalStateException e) {
                throw new IllegalStateException(name() + ": " + e.getMessage(), e);
            }
        }
    }

    @Override
    void close() throws Exception {
        if (peer != null) {
            peer.close();
        }
    }
}
