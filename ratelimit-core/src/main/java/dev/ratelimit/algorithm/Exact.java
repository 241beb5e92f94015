package dev.ratelimit.algorithm;

import java.math.BigInteger;

/** Products that may not fit into 64 bits, divided without rounding on the way. No argument is negative. */
final class Exact {

    private Exact() {}

    static long product(long a, long b) {
        return Math.multiplyHigh(a, b) == 0 && a * b >= 0 ? a * b : Long.MAX_VALUE;
    }

    static long floorOfProduct(long a, long b, long divisor) {
        if (Math.multiplyHigh(a, b) == 0 && a * b >= 0) {
            return a * b / divisor;
        }
        BigInteger quotient =
                BigInteger.valueOf(a).multiply(BigInteger.valueOf(b)).divide(BigInteger.valueOf(divisor));
        return quotient.bitLength() < Long.SIZE ? quotient.longValue() : Long.MAX_VALUE;
    }

    static long ceilingOfProduct(long a, long b, long divisor) {
        if (Math.multiplyHigh(a, b) == 0 && a * b >= 0) {
            return ceilDiv(a * b, divisor);
        }
        BigInteger[] quotient =
                BigInteger.valueOf(a).multiply(BigInteger.valueOf(b)).divideAndRemainder(BigInteger.valueOf(divisor));
        BigInteger ceiling = quotient[1].signum() == 0 ? quotient[0] : quotient[0].add(BigInteger.ONE);
        return ceiling.bitLength() < Long.SIZE ? ceiling.longValue() : Long.MAX_VALUE;
    }

    /** A difference in other units: rounded away from zero if it is positive, towards it if not. */
    static long scaled(long difference, long units, long perOldUnits) {
        if (units == perOldUnits) {
            return difference;
        }
        return difference >= 0
                ? ceilingOfProduct(difference, units, perOldUnits)
                : -floorOfProduct(-difference, units, perOldUnits);
    }

    /** The rest of an amount that shrinks by {@code perMicro} each microsecond; never negative. */
    static long leftAfter(long amount, long elapsed, long perMicro) {
        if (elapsed <= 0) {
            return Math.max(0, amount);
        }
        return elapsed >= ceilDiv(amount, perMicro) ? 0 : amount - elapsed * perMicro;
    }

    static long ceilDiv(long dividend, long divisor) {
        return dividend / divisor + (dividend % divisor > 0 ? 1 : 0);
    }
}
