package dev.ratelimit.store.postgresql.admission;

import dev.ratelimit.Algorithm;
import dev.ratelimit.algorithm.Count;
import java.util.List;

/**
 * The part of PostgreSQL's admission statement that belongs to one algorithm: whether a row has room, and its columns
 * after the charge. It is the only second form of the arithmetic, and it is optional: an algorithm without one is
 * decided in Java.
 *
 * <p>The expressions may use {@code state}, the locked row, and {@code excluded}, the row as it would be inserted. They
 * may also use {@code now}, with {@code clock}, {@code rate}, {@code size} and {@code capacity}. Two numbers of the
 * limit that the excluded row does not hold are written as {@code {rate}} and {@code {most}}, and the clock as {@code
 * {clock}}. The locked row is of the same algorithm, size and capacity as the excluded one.
 */
public interface AdmissionFragment {

    /** The name of the algorithm. */
    String algorithm();

    /**
     * @param algorithm an algorithm of that name
     * @param expected the moment at which the statement is expected to run
     */
    AdmissionNumbers numbers(Algorithm algorithm, long expected);

    /** The columns that hold the count, beside {@code window_start}. */
    List<String> columns();

    /** The values of the columns in a new row: {@code key.take} permits are charged at {@code key.clock}. */
    List<String> fresh();

    /** The values of the columns after the charge, at {@code now.clock}. */
    List<String> charged();

    /** When the count is whole again, from the charged columns, such as {@code now.tokens}, and {@code now.start}. */
    String wholeAt();

    /**
     * The first moment, not before the row's last time, that has room. A row that has room must also have room later.
     */
    String since();

    /** Whether it counts in windows: {@code now.start} is then the start of the window, else the clock. */
    boolean inWindows();

    /** The values that the answers are computed from. */
    default List<String> returned() {
        return columns().stream().map("state."::concat).toList();
    }

    /**
     * The count after the charge.
     *
     * @param values those of {@link #returned()}
     */
    Count count(long at, AdmissionNumbers numbers, long[] values);

    /** Whether that count is complete: good for more than the answers of the requests that were admitted. */
    default boolean countIsComplete() {
        return true;
    }
}
