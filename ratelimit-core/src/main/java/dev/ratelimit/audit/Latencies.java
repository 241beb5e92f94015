package dev.ratelimit.audit;

import dev.ratelimit.audit.report.Reports;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
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

    private final AbstractHistogram histogram;

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
        histogram.recordValue(Math.max(0, Math.min(MOST_MICROS, micros)));
    }

    void add(Latencies other) {
        histogram.add(other.histogram);
    }

    /** Adds a histogram as it is stored. */
    void add(byte[] stored) {
        try {
            histogram.add(Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(stored), MOST_MICROS));
        } catch (DataFormatException e) {
            throw new IllegalStateException("a histogram of latencies in rate_limit_metrics cannot be read", e);
        }
    }

    byte[] stored() {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Arrays.copyOf(buffer.array(), length);
    }

    Reports.@Nullable Percentiles percentiles() {
        return histogram.getTotalCount() == 0
                ? null
                : new Reports.Percentiles(percentile(50), percentile(95), percentile(99));
    }

    private Duration percentile(double percent) {
        return Duration.ofNanos(1_000 * histogram.getValueAtPercentile(percent));
    }
}
