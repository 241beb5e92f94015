package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Values are read as they were written, and what is not ours is refused. */
class StoredCodecTest {

    private static final State STATE = new State(
            "fixed-window", new Count(1_000, 60_000_000, 7, 3, 0, Log.EMPTY), 10, 0, 1_500, 1_500, 60_001_000);

    @Test
    void valuesAreReadAsTheyWereWritten() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            Stored stored = random(random);

            assertThat(StoredCodec.decode(StoredCodec.encode(stored)))
                    .as("value %s of seed %s", i, seed)
                    .isEqualTo(stored);
        }
    }

    private static Stored random(Random random) {
        long version = random.nextLong() | 1;
        Violations violations = random.nextBoolean()
                ? Violations.NONE
                : new Violations(
                        1 + (random.nextLong() >>> 10), number(random), number(random), number(random), number(random));
        if (random.nextInt(10) == 0) {
            return new Stored(version, State.FRESH, violations);
        }
        Log log = random.nextInt(4) == 0 ? Log.of(number(random), 1 + random.nextInt(100)) : Log.EMPTY;
        Count count = new Count(number(random), number(random), number(random), number(random), number(random), log);
        List<String> names = Algorithms.names();
        State state = new State(
                names.get(random.nextInt(names.size())),
                count,
                number(random),
                number(random),
                number(random),
                number(random),
                number(random));
        return new Stored(version, state, violations);
    }

    /** Small and large ones, and some below zero: a bucket may owe. */
    private static long number(Random random) {
        long number = random.nextLong() >>> random.nextInt(64);
        return random.nextInt(20) == 0 ? -number : number;
    }

    @Test
    void valueBeginsWithItsVersion() {
        byte[] bytes = StoredCodec.encode(new Stored(0x0102030405060708L, STATE, Violations.NONE));

        assertThat(Arrays.copyOf(bytes, StoredCodec.VERSION_BYTES))
                .containsExactly(1, 2, 3, 4, 5, 6, 7, 8)
                .isEqualTo(StoredCodec.version(0x0102030405060708L));
    }

    @Test
    void noBytesAreNoValue() {
        assertThat(StoredCodec.decode(new byte[0])).isEqualTo(Stored.NONE);
    }

    @Test
    void valueThatIsCutOffIsRefused() {
        byte[] bytes = StoredCodec.encode(new Stored(1, STATE, new Violations(1, 2, 3, 4, 5)));

        for (int length = 1; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> StoredCodec.decode(cut))
                    .as("%s of %s bytes", length, bytes.length)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("a value of " + length + " bytes is cut off");
        }
    }

    @Test
    void logThatIsCutOffInAMomentIsRefused() {
        State log = new State("sliding-log", new Count(1, 2, 0, 0, 0, Log.of(1_000, 3)), 10, 0, 1, 1, 1);
        byte[] bytes = StoredCodec.encode(new Stored(1, log, Violations.NONE));

        assertThatThrownBy(() -> StoredCodec.decode(Arrays.copyOf(bytes, bytes.length - 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is cut off");
    }

    @Test
    void unknownFormatIsRefused() {
        byte[] bytes = StoredCodec.encode(new Stored(1, STATE, Violations.NONE));
        bytes[StoredCodec.VERSION_BYTES] = 9;

        assertThatThrownBy(() -> StoredCodec.decode(bytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a value has the unknown format 9");
    }

    @Test
    void usualValueIsSmall() {
        long now = 1_800_000_000_000_000L;
        State bucket = new State(
                "token-bucket",
                new Count(now, 1_000_000, 0, 0, 99_000_000, Log.EMPTY),
                100,
                0,
                now,
                now,
                now + 60_000_000);

        assertThat(StoredCodec.encode(new Stored(ByteBuffer.wrap(new byte[8]).getLong() + 1, bucket, Violations.NONE)))
                .hasSizeLessThan(80);
    }
}
