package dev.ratelimit.audit;

import dev.ratelimit.audit.report.Reports;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.zip.DataFormatException;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/** A histogram of microseconds that can be merged with others: percentiles cannot. Not safe for use by many threads. */
final class Latencies {

    private static final long MOST_MICROS = 60_000_000;

    /** An error of one percent. */
    private static final int DIGITS = 2;

    /** {@code null} while it is compact. */
    private @Nullable AbstractHistogram histogram;

    /** The same as it is stored; {@code null} while it is not compact. */
    private byte @Nullable [] compact;

    private Latencies(AbstractHistogram histogram) {
        this.histogram = histogram;
    }

    /** For a few seconds: it takes half the memory. */
    static Latencies ofSeconds() {
        return new Latencies(new IntCountsHistogram(MOST_MICROS, DIGITS));
    }

    static Latencies ofPeriod() {
        return new Latencies(new Histogram(MOST_MICROS, DIGITS));
    }

    void add(long micros) {
        histogram().recordValue(Math.max(0, Math.min(MOST_MICROS, micros)));
    }

    void add(Latencies other) {
        histogram().add(other.histogram());
    }

    /** Adds a histogram as it is stored. */
    void add(byte[] stored) {
        histogram().add(decoded(stored));
    }

    private static Histogram decoded(byte[] stored) {
        try {
            return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(stored), MOST_MICROS);
        } catch (DataFormatException e) {
            throw new IllegalStateException("a histogram of latencies in rate_limit_metrics cannot be read", e);
        }
    }

    /** Takes a few hundred bytes until the next addition, instead of thousands. */
    void compact() {
        if (compact == null) {
            compact = stored();
            histogram = null;
        }
    }

    private AbstractHistogram histogram() {
        if (histogram == null) {
            histogram = decoded(Objects.requireNonNull(compact));
            compact = null;
        }
        return histogram;
    }

    byte[] stored() {
        if (compact != null) {
            return compact;
        }
        AbstractHistogram histogram = histogram();
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Arrays.copyOf(buffer.array(), length);
    }

    Reports.@Nullable Percentiles percentiles() {
        return histogram().getTotalCount() == 0
                ? null
                : new Reports.Percentiles(percentile(50), percentile(95), percentile(99));
    }

    private Duration percentile(double percent) {
        return Duration.ofNanos(1_000 * histogram().getValueAtPercentile(percent));
    }
}
