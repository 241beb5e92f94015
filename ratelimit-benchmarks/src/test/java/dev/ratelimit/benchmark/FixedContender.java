package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.Turn;
import java.util.Iterator;
import java.util.List;

/** Is as fast in each of its turns as it is told to be. */
final class FixedContender extends Contender {

    private final Iterator<Double> rates;
    private final double databaseMicros;

    FixedContender(String name, double databaseMicros, Double... rates) {
        super(name);
        this.databaseMicros = databaseMicros;
        this.rates = List.of(rates).iterator();
    }

    @Override
    void warmUp(double seconds) {}

    @Override
    Turn run(double seconds) {
        return new Turn(rates.next(), 1, 2, 0.05, databaseMicros);
    }

    @Override
    void close() {}
}
