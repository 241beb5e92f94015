package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.Load.Result;
import dev.ratelimit.benchmark.peer.Peer;
import java.util.ArrayList;
import java.util.List;

/** One thing that is measured, over and over. */
final class Series {

    /** How many keys the store is asked about after a run. */
    private static final int SAMPLE = 20;

    /** Opens what is measured; for every repetition anew if it is used up by one. */
    interface Opening {
        Peer open(int repetition) throws Exception;
    }

    private final String name;
    private final Opening opening;
    private final Load load;
    private final long timesEach;
    private final long burst;
    private final List<Result> results = new ArrayList<>();
    private Peer peer;
    private long[] admitted;

    /**
     * @param timesEach how often each caller asks; zero to run for a while on one peer
     * @param burst if it is used up: what each key admits
     */
    private Series(String name, Load load, Opening opening, long timesEach, long burst) {
        this.name = name;
        this.load = load;
        this.opening = opening;
        this.timesEach = timesEach;
        this.burst = burst;
        this.admitted = new long[load.keys()];
    }

    /** Requests that are all admitted. */
    static Series admitted(String name, Load load, Opening opening) {
        return new Series(name, load, opening, 0, 0);
    }

    /** Requests of which nine in ten are denied, on new keys for each repetition. */
    static Series mostlyDenied(String name, Load load, long timesEach, Opening opening) {
        return new Series(name, load, opening, timesEach, timesEach * load.callers() / load.keys() / 10);
    }

    String name() {
        return name;
    }

    Load load() {
        return load;
    }

    List<Result> results() {
        return results;
    }

    void warmUp(double seconds) throws Exception {
        if (timesEach == 0) {
            peer = opening.open(0);
            count(load.run(peer, seconds));
        }
    }

    void measure(int repetition, double seconds) throws Exception {
        Result result;
        if (timesEach == 0) {
            result = load.run(peer, seconds);
            count(result);
            requireExact();
        } else {
            try (Peer fresh = opening.open(repetition)) {
                result = load.runTimes(fresh, timesEach);
                if (result.admitted() != burst * load.keys()) {
                    throw new IllegalStateException(name + ": the limits admit " + burst * load.keys()
                            + " requests, and " + result.admitted() + " were admitted");
                }
            }
        }
        results.add(result);
    }

    private void count(Result result) {
        for (int key = 0; key < admitted.length; key++) {
            admitted[key] += result.admittedByKey()[key];
        }
    }

    /** All were admitted, and the store has charged them: no more and no fewer. */
    private void requireExact() throws Exception {
        for (int key = 0; key < admitted.length; key += Math.max(1, admitted.length / SAMPLE)) {
            long charged = peer.admitted(key);
            if (charged >= 0 && charged != admitted[key]) {
                throw new IllegalStateException(name + ": key " + key + " was admitted " + admitted[key]
                        + " times, and charged " + charged + " times");
            }
        }
    }

    void close() throws Exception {
        if (peer != null) {
            peer.close();
        }
    }

    double perSecond() {
        return median(results.stream().mapToDouble(Result::perSecond).toArray());
    }

    double p50() {
        return median(results.stream().mapToDouble(Result::p50).toArray());
    }

    double p99() {
        return median(results.stream().mapToDouble(Result::p99).toArray());
    }

    /** How far apart the repetitions are, as a part of their median. */
    double spread() {
        double[] rates =
                results.stream().mapToDouble(Result::perSecond).sorted().toArray();
        return rates.length == 0 ? 0 : (rates[rates.length - 1] - rates[0]) / perSecond();
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        java.util.Arrays.sort(sorted);
        return sorted.length == 0 ? Double.NaN : sorted[sorted.length / 2];
    }
}
