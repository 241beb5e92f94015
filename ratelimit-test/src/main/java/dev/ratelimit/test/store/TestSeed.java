package dev.ratelimit.test.store;

import java.util.Random;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The seed of a randomised test: another one in each run, unless the system property {@code ratelimit.test.seed} gives
 * the one to repeat.
 */
public final class TestSeed {

    private static final Logger log = LoggerFactory.getLogger(TestSeed.class);
    private static final String PROPERTY = "ratelimit.test.seed";

    private final long value;

    private TestSeed(long value) {
        this.value = value;
    }

    /** The seed of this run, written to the log under the name of the test. */
    public static TestSeed of(String test) {
        Long given = Long.getLong(PROPERTY);
        TestSeed seed = new TestSeed(given == null ? new Random().nextInt() : given);
        log.info("{}: {}", test, seed);
        return seed;
    }

    /** Random numbers of their own for each history, so that one history does not depend on those before it. */
    public RandomGenerator history(int number) {
        return new Random(value * 1_000_003 + number);
    }

    @Override
    public String toString() {
        return "-D" + PROPERTY + "=" + value;
    }
}
