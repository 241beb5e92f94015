package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.testing.TestSeed;
import java.math.BigInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class ExactTest {

    private static final long MAX = Long.MAX_VALUE;

    @Test
    void smallProductsAreDivided() {
        assertThat(Exact.floorOfProduct(7, 3, 2)).isEqualTo(10);
        assertThat(Exact.ceilingOfProduct(7, 3, 2)).isEqualTo(11);
        assertThat(Exact.floorOfProduct(6, 3, 2)).isEqualTo(9);
        assertThat(Exact.ceilingOfProduct(6, 3, 2)).isEqualTo(9);
        assertThat(Exact.floorOfProduct(0, MAX, 3)).isZero();
        assertThat(Exact.ceilingOfProduct(0, MAX, 3)).isZero();
    }

    @Test
    void largestProductOfSixtyThreeBitsIsDivided() {
        assertThat(Exact.floorOfProduct(MAX, 1, 2)).isEqualTo(MAX / 2);
        assertThat(Exact.ceilingOfProduct(MAX, 1, 2)).isEqualTo(MAX / 2 + 1);
        assertThat(Exact.ceilingOfProduct(MAX, 1, 1)).isEqualTo(MAX);
    }

    @Test
    void productOfSixtyFourBitsIsNotNegative() {
        // 2^63: its high half is zero, but as a long it is negative.
        assertThat(Exact.floorOfProduct(1L << 32, 1L << 31, 2)).isEqualTo(1L << 62);
        assertThat(Exact.ceilingOfProduct(1L << 32, 1L << 31, 2)).isEqualTo(1L << 62);
    }

    @Test
    void productBeyondSixtyFourBitsIsDivided() {
        assertThat(Exact.floorOfProduct(MAX, MAX, MAX)).isEqualTo(MAX);
        assertThat(Exact.ceilingOfProduct(MAX, MAX, MAX)).isEqualTo(MAX);
        assertThat(Exact.floorOfProduct(MAX - 1, MAX - 1, MAX)).isEqualTo(MAX - 2);
        assertThat(Exact.ceilingOfProduct(MAX - 1, MAX - 1, MAX)).isEqualTo(MAX - 1);
    }

    @Test
    void quotientThatDoesNotFitIsTheLargestNumber() {
        assertThat(Exact.floorOfProduct(MAX, 2, 1)).isEqualTo(MAX);
        assertThat(Exact.ceilingOfProduct(MAX, 2, 1)).isEqualTo(MAX);
        assertThat(Exact.ceilingOfProduct(MAX, MAX, 3)).isEqualTo(MAX);
    }

    @Test
    void quotientIsRoundedUp() {
        assertThat(Exact.ceilDiv(0, 5)).isZero();
        assertThat(Exact.ceilDiv(1, 5)).isEqualTo(1);
        assertThat(Exact.ceilDiv(5, 5)).isEqualTo(1);
        assertThat(Exact.ceilDiv(6, 5)).isEqualTo(2);
        assertThat(Exact.ceilDiv(MAX, 1)).isEqualTo(MAX);
        assertThat(Exact.ceilDiv(MAX, 2)).isEqualTo(MAX / 2 + 1);
    }

    @Test
    void randomProductsAreThoseOfUnboundedNumbers() {
        TestSeed seed = TestSeed.of("ExactTest");
        RandomGenerator random = seed.history(0);
        for (int i = 0; i < 20_000; i++) {
            long a = number(random);
            long b = number(random);
            long divisor = Math.max(1, number(random));
            BigInteger product = BigInteger.valueOf(a).multiply(BigInteger.valueOf(b));
            BigInteger floor = product.divide(BigInteger.valueOf(divisor));
            BigInteger ceiling = product.add(BigInteger.valueOf(divisor - 1)).divide(BigInteger.valueOf(divisor));
            assertThat(Exact.floorOfProduct(a, b, divisor))
                    .as("%s: %d * %d / %d", seed, a, b, divisor)
                    .isEqualTo(floor.min(BigInteger.valueOf(MAX)).longValueExact());
            assertThat(Exact.ceilingOfProduct(a, b, divisor))
                    .as("%s: %d * %d / %d", seed, a, b, divisor)
                    .isEqualTo(ceiling.min(BigInteger.valueOf(MAX)).longValueExact());
        }
    }

    /** A number of any length in bits, not mostly of the greatest. */
    private static long number(RandomGenerator random) {
        return random.nextLong() >>> (1 + random.nextInt(63));
    }
}
