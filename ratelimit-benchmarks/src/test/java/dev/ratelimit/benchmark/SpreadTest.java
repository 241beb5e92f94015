package dev.ratelimit.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.ratelimit.benchmark.load.Spread;
import org.junit.jupiter.api.Test;

class SpreadTest {

    @Test
    void medianIsTheTurnInTheMiddle() {
        assertThat(Spread.of(9, 1, 5)).isEqualTo(new Spread(5, 1, 9));
        assertThat(Spread.of(4, 1, 2, 8)).isEqualTo(new Spread(3, 1, 8));
        assertThat(Spread.of(7)).isEqualTo(new Spread(7, 7, 7));
    }

    @Test
    void nothingIsKnownWithoutTurns() {
        assertThat(Spread.of().isKnown()).isFalse();
        assertThat(Spread.of(Double.NaN, Double.NaN).isKnown()).isFalse();
    }

    @Test
    void momentThatSlowsBothSidesDownLeavesTheRatioAsItIs() {
        double[] of = {200, 20, 2000};
        double[] to = {100, 10, 1000};

        assertThat(Spread.ofRatios(of, to)).isEqualTo(new Spread(2, 2, 2));
    }

    @Test
    void ratioIsTheMedianOfThePairsAndNotTheRatioOfTheMedians() {
        double[] of = {1, 10, 6};
        double[] to = {1, 20, 2};

        // The medians are 6 and 2.
        assertThat(Spread.ofRatios(of, to)).isEqualTo(new Spread(1, 0.5, 3));
    }

    @Test
    void turnsWithoutAPartnerAreRefused() {
        assertThatThrownBy(() -> Spread.ofRatios(new double[3], new double[2]))
                .hasMessage("3 turns cannot be paired with 2");
    }

    @Test
    void widthIsRelativeToTheMedian() {
        assertThat(Spread.of(80, 100, 130).width()).isCloseTo(0.5, within(1e-9));
    }
}
