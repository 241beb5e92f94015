package dev.ratelimit.store.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the answer of the script. */
final class SwapReply extends CommandOutput<byte[], byte[], SwapReply> {

    /** Stands for the value of a key that is a list or something else. It is too short for a value. */
    static final byte[] NO_STRING = {0};

    /** Stands for a value that is longer than any of a limit. It is too short for a value. */
    static final byte[] TOO_LONG = {2};

    private static final byte[] NOTHING = {};

    private long time = -1;
    private final List<byte @Nullable []> values;

    SwapReply(int keys) {
        super(ByteArrayCodec.INSTANCE, null);
        this.values = new ArrayList<>(keys);
    }

    @Override
    public SwapReply get() {
        return this;
    }

    @Override
    public void set(long integer) {
        if (time < 0) {
            time = integer;
        } else {
            values.add(integer == 1 ? null : integer == 2 ? TOO_LONG : NO_STRING);
        }
    }

    @Override
    public void set(@Nullable ByteBuffer bytes) {
        values.add(bytes == null ? NOTHING : codec.decodeValue(bytes));
    }

    @Override
    public void multi(int count) {
        // The answer is one flat list.
    }

    /** The clock of the server, in microseconds since the epoch. */
    long time() {
        return time;
    }

    /** Whether the moment of the decision was not of the last second. */
    boolean isRefused() {
        return values.isEmpty();
    }

    /** The value that was found instead of the known one; {@code null} if it was the known one. */
    byte @Nullable [] found(int key) {
        return values.get(key);
    }
}
