package dev.ratelimit.store.redis;

import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The bytes of a value.
 *
 * <ol>
 *   <li>The version: eight bytes, which the script compares.
 *   <li>The format: one byte.
 *   <li>The name of the algorithm: its length and its letters; empty if there are only violations.
 *   <li>The numbers of the state, then of the violations, each with seven bits a byte, lowest first: most are small or zero.
 *   <li>The moments of a log, eight bytes each.
 * </ol>
 */
final class StoredCodec {

    static final int VERSION_BYTES = Long.BYTES;

    private static final byte FORMAT = 1;

    /** A number of 64 bits, seven a byte. */
    private static final int LONGEST_NUMBER = 10;

    private static final int NUMBERS = 15;

    private StoredCodec() {}

    /** The first bytes of a value of that version. */
    static byte[] version(long version) {
        return ByteBuffer.allocate(VERSION_BYTES).putLong(version).array();
    }

    static byte[] encode(Stored stored) {
        State state = stored.state();
        Count count = state.count();
        Violations violations = stored.violations();
        byte[] algorithm = state.algorithm().getBytes(StandardCharsets.US_ASCII);
        byte[] log = count.log().toBytes();
        ByteBuffer out =
                ByteBuffer.allocate(VERSION_BYTES + 2 + algorithm.length + NUMBERS * LONGEST_NUMBER + log.length);
        out.putLong(stored.version());
        out.put(FORMAT);
        out.put((byte) algorithm.length).put(algorithm);
        put(out, count.start());
        put(out, count.size());
        put(out, count.used());
        put(out, count.previous());
        put(out, count.tokens());
        put(out, state.capacity());
        put(out, state.blockedUntil());
        put(out, state.last());
        put(out, state.lastAllowed());
        put(out, state.expiresAt());
        put(out, violations.count());
        if (!violations.isNone()) {
            put(out, violations.lastAt());
            put(out, violations.penaltyUntil());
            put(out, violations.penaltyDuration());
            put(out, violations.forgetAt());
        }
        out.put(log);
        byte[] bytes = new byte[out.position()];
        out.flip().get(bytes);
        return bytes;
    }

    /**
     * @param bytes the value; empty if there is none
     * @throws IllegalArgumentException if they are not of this format
     */
    static Stored decode(byte[] bytes) {
        if (bytes.length == 0) {
            return Stored.NONE;
        }
        try {
            ByteBuffer in = ByteBuffer.wrap(bytes);
            long version = in.getLong();
            byte format = in.get();
            if (format != FORMAT) {
                throw new IllegalArgumentException("a value has the unknown format " + format);
            }
            byte[] algorithm = new byte[in.get()];
            in.get(algorithm);
            return decode(version, new String(algorithm, StandardCharsets.US_ASCII), in);
        } catch (BufferUnderflowException | NegativeArraySizeException e) {
            throw new IllegalArgumentException("a value of " + bytes.length + " bytes is cut off", e);
        }
    }

    private static Stored decode(long version, String algorithm, ByteBuffer in) {
        long start = get(in);
        long size = get(in);
        long used = get(in);
        long previous = get(in);
        long tokens = get(in);
        long capacity = get(in);
        long blockedUntil = get(in);
        long last = get(in);
        long lastAllowed = get(in);
        long expiresAt = get(in);
        long violations = get(in);
        Violations counted =
                violations == 0 ? Violations.NONE : new Violations(violations, get(in), get(in), get(in), get(in));
        if (in.remaining() % Long.BYTES != 0) {
            throw new BufferUnderflowException();
        }
        byte[] log = new byte[in.remaining()];
        in.get(log);
        State state = algorithm.isEmpty()
                ? State.FRESH
                : new State(
                        algorithm,
                        new Count(start, size, used, previous, tokens, Log.of(log)),
                        capacity,
                        blockedUntil,
                        last,
                        lastAllowed,
                        expiresAt);
        return new Stored(version, state, counted);
    }

    private static void put(ByteBuffer out, long number) {
        long rest = number;
        while ((rest & ~0x7fL) != 0) {
            out.put((byte) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        out.put((byte) rest);
    }

    private static long get(ByteBuffer in) {
        long number = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = in.get();
            number |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return number;
            }
        }
    }
}
