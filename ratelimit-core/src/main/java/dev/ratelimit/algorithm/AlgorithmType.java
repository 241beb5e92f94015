package dev.ratelimit.algorithm;

import dev.ratelimit.LimitProperties;
import java.util.function.Function;

/**
 * One kind of algorithm.
 *
 * @param name as in configuration
 * @param layout which numbers of a count it uses
 * @param reader reads its numbers from configuration
 */
record AlgorithmType(String name, Count.Layout layout, Function<LimitProperties, CountingAlgorithm> reader) {}
