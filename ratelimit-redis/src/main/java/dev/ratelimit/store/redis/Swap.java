package dev.ratelimit.store.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** One call of the script: some units of one slot. Not thread-safe. */
final class Swap {

    /** More would keep the server busy for too long at once. */
    static final int MOST_KEYS = 500;

    private static final byte[] EMPTY = {};

    private static final byte[] ZERO = {'0'};

    private final int slot;
    private final List<Unit> units = new ArrayList<>();
    private final StringBuilder starts = new StringBuilder();
    private int keys;
    private boolean isWriting;

    Swap(int slot) {
        this.slot = slot;
    }

    void add(Unit unit) {
        units.add(unit);
        for (int i = 0; i < unit.rows().size(); i++) {
            starts.append(i == 0 ? '1' : '0');
        }
        keys += unit.rows().size();
        isWriting |= unit.isChanged();
    }

    int slot() {
        return slot;
    }

    List<Unit> units() {
        return units;
    }

    boolean isFull() {
        return keys >= MOST_KEYS;
    }

    /** Whether it may change anything. */
    boolean isWriting() {
        return isWriting;
    }

    /**
     * The command.
     *
     * @param moment which the values were decided for, in microseconds
     * @param isClockGiven whether that is not the time of the server; then nothing expires by itself either
     * @param isScriptKnown whether the server has the script; else it is sent along
     */
    AsyncCommand<byte[], byte[], SwapReply> command(long moment, boolean isClockGiven, boolean isScriptKnown) {
        CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE)
                .add(isScriptKnown ? SwapScript.SHA1 : SwapScript.TEXT)
                .add(keys);
        for (Unit unit : units) {
            for (Row row : unit.rows()) {
                args.addKey(row.name);
            }
        }
        args.add(isClockGiven ? EMPTY : digits(moment));
        args.add(starts.toString().getBytes(StandardCharsets.US_ASCII));
        for (Unit unit : units) {
            for (Row row : unit.rows()) {
                add(args, row, isClockGiven);
            }
        }
        return new AsyncCommand<>(
                new Command<>(isScriptKnown ? CommandType.EVALSHA : CommandType.EVAL, new SwapReply(keys), args));
    }

    private static void add(CommandArgs<byte[], byte[]> args, Row row, boolean isClockGiven) {
        args.add(row.known().isNone() ? EMPTY : StoredCodec.version(row.known().version()));
        if (!row.isChanged()) {
            args.add(EMPTY).add(EMPTY);
        } else if (row.isToBeDeleted()) {
            args.add(EMPTY).add(ZERO);
        } else {
            Stored next = row.versioned(newVersion());
            args.add(StoredCodec.encode(next)).add(isClockGiven ? EMPTY : digits(next.expiryMillis()));
        }
    }

    /** Drawn at random: a key may expire and be made again by another process. */
    private static long newVersion() {
        long version = ThreadLocalRandom.current().nextLong();
        return version == 0 ? 1 : version;
    }

    private static byte[] digits(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }
}
