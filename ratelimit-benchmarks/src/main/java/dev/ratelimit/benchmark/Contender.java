package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.Spread;
import dev.ratelimit.benchmark.load.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Something that is measured turn by turn, next to others. */
abstract class Contender {

    private final String name;
    private final List<Turn> turns = new ArrayList<>();

    Contender(String name) {
        this.name = name;
    }

    final String name() {
        return name;
    }

    /** Opens it and lets it run for a while. Called once. */
    abstract void warmUp(double seconds) throws Exception;

    /** Runs for a while, or until it has done as much as it does in a turn. */
    abstract Turn run(double seconds) throws Exception;

    abstract void close() throws Exception;

    final Turn measure(double seconds) throws Exception {
        Turn turn = run(seconds);
        turns.add(turn);
        return turn;
    }

    /** A figure over all turns, of whichever family they were. */
    final Spread spread(ToDoubleFunction<Turn> figure) {
        return Spread.of(turns.stream().mapToDouble(figure).toArray());
    }

    @Override
    public final String toString() {
        return name;
    }
}
