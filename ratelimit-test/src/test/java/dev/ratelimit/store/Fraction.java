package dev.ratelimit.store;

import java.math.BigInteger;

/** An exact number, for models that must not round. The denominator is positive. */
record Fraction(BigInteger numerator, BigInteger denominator) implements Comparable<Fraction> {

    static final Fraction ZERO = of(0);

    static Fraction of(long number) {
        return new Fraction(BigInteger.valueOf(number), BigInteger.ONE);
    }

    static Fraction of(long numerator, long denominator) {
        return new Fraction(BigInteger.valueOf(numerator), BigInteger.valueOf(denominator)).reduced();
    }

    Fraction plus(Fraction other) {
        return new Fraction(
                        numerator.multiply(other.denominator).add(other.numerator.multiply(denominator)),
                        denominator.multiply(other.denominator))
                .reduced();
    }

    Fraction minus(Fraction other) {
        return plus(new Fraction(other.numerator.negate(), other.denominator));
    }

    Fraction times(Fraction other) {
        return new Fraction(numerator.multiply(other.numerator), denominator.multiply(other.denominator)).reduced();
    }

    Fraction min(Fraction other) {
        return compareTo(other) <= 0 ? this : other;
    }

    Fraction max(Fraction other) {
        return compareTo(other) >= 0 ? this : other;
    }

    boolean atMost(Fraction other) {
        return compareTo(other) <= 0;
    }

    @Override
    public int compareTo(Fraction other) {
        return numerator.multiply(other.denominator).compareTo(other.numerator.multiply(denominator));
    }

    private Fraction reduced() {
        BigInteger common = numerator.gcd(denominator);
        return new Fraction(numerator.divide(common), denominator.divide(common));
    }
}
