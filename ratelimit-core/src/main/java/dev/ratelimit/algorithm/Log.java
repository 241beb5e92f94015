package dev.ratelimit.algorithm;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** The moments of a sliding log, in ascending order, one for each unit of cost. Immutable. */
public final class Log {

    public static final Log EMPTY = new Log(new long[0]);

    private final long[] moments;

    private Log(long[] moments) {
        this.moments = moments;
    }

    /** Reads what {@link #toBytes()} wrote. */
    public static Log of(byte[] bytes) {
        if (bytes.length == 0) {
            return EMPTY;
        }
        long[] moments = new long[bytes.length / Long.BYTES];
        ByteBuffer.wrap(bytes).asLongBuffer().get(moments);
        return new Log(moments);
    }

    /** The same moment as many times. */
    public static Log of(long moment, int times) {
        return EMPTY.with(moment, times);
    }

    /** Eight bytes a moment, most significant first: the bytes of two moments compare as the moments do. */
    public byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(moments.length * Long.BYTES);
        bytes.asLongBuffer().put(moments);
        return bytes.array();
    }

    public int size() {
        return moments.length;
    }

    long get(int index) {
        return moments[index];
    }

    long newest() {
        return moments[moments.length - 1];
    }

    /** How often the moment is in it. */
    int times(long moment) {
        return firstAfter(moment) - firstAfter(moment - 1);
    }

    /** The part that is later than the moment. */
    Log after(long moment) {
        int first = firstAfter(moment);
        return first == 0 ? this : new Log(Arrays.copyOfRange(moments, first, moments.length));
    }

    /** This log with the moment put in as many times. */
    Log with(long moment, int times) {
        int at = firstAfter(moment);
        long[] more = new long[moments.length + times];
        System.arraycopy(moments, 0, more, 0, at);
        Arrays.fill(more, at, at + times, moment);
        System.arraycopy(moments, at, more, at + times, moments.length - at);
        return new Log(more);
    }

    /** This log with the moment taken out as many times, or as often as it is there. */
    Log without(long moment, long times) {
        int end = firstAfter(moment);
        int begin = end;
        while (begin > 0 && moments[begin - 1] == moment && end - begin < times) {
            begin--;
        }
        long[] fewer = new long[moments.length - (end - begin)];
        System.arraycopy(moments, 0, fewer, 0, begin);
        System.arraycopy(moments, end, fewer, begin, moments.length - end);
        return new Log(fewer);
    }

    /** This log as if all of it had happened that much earlier. */
    Log earlier(long micros) {
        long[] shifted = new long[moments.length];
        for (int i = 0; i < moments.length; i++) {
            shifted[i] = moments[i] - micros;
        }
        return new Log(shifted);
    }

    private int firstAfter(long moment) {
        int low = 0;
        int high = moments.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (moments[middle] > moment) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Log log && Arrays.equals(moments, log.moments);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(moments);
    }

    @Override
    public String toString() {
        return Arrays.toString(moments);
    }
}
