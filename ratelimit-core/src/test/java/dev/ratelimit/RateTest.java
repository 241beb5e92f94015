package dev.ratelimit;

import static dev.ratelimit.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateTest {

    @Test
    void rateIsKeptInLowestTerms() {
        assertThat(Rate.parse("60/m")).isEqualTo(Rate.parse("1/s")).isEqualTo(Rate.perSecond(1));
        assertThat(Rate.perMinute(60)).isEqualTo(Rate.perSecond(1));
        assertThat(Rate.parse("10/s")).isEqualTo(Rate.of(1, Duration.ofMillis(100)));
        assertThat(Rate.parse("5/15m")).isEqualTo(Rate.of(1, Duration.ofMinutes(3)));
        assertThat(Rate.parse("3000000/s")).isEqualTo(Rate.of(3, Duration.ofNanos(1_000)));
        assertThat(Rate.parse("7/11s").permits()).isEqualTo(7);
        assertThat(Rate.parse("7/11s").per()).isEqualTo(Duration.ofSeconds(11));
        assertThat(Rate.parse("60/m")).isNotEqualTo(Rate.parse("61/m"));
    }

    @ParameterizedTest
    @CsvSource({
        "1/s, 1, PT1S",
        "60/m, 1, PT1S",
        "5/15m, 1, PT3M",
        "7/500ms, 7, PT0.5S",
        "7/11us, 7, PT0.000011S",
        "1/h, 1, PT1H",
        "1/d, 1, PT24H",
        "1/3660d, 1, PT87840H",
        "1000000000000/us, 1000000000000, PT0.000001S",
        "' 1 / 2 s ', 1, PT2S"
    })
    void ratesAreReadAsWritten(String written, long permits, Duration per) {
        assertThat(Rate.parse(written)).isEqualTo(new Rate(permits, per));
        assertThat(Rate.parse(written).permits()).isEqualTo(permits);
        assertThat(Rate.parse(written).per()).isEqualTo(per);
    }

    @ParameterizedTest
    @CsvSource({"60/m, 1/s", "1/s, 1/s", "10/s, 1/100ms", "5/15m, 1/3m", "7/d, 7/d", "3000000/s, 3/us", "7/11us, 7/11us"
    })
    void aRateIsShownInLowestTermsAndCanBeReadAgain(String written, String shown) {
        assertThat(Rate.parse(written)).hasToString(shown);
        assertThat(Rate.parse(shown)).isEqualTo(Rate.parse(written));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "60",
                "/s",
                "1/",
                "60/minute",
                "-1/s",
                "+1/s",
                "1.5/s",
                "1/-5s",
                "1/1.5s",
                "1/S",
                "1 per s",
                "1//s",
                "1/w",
                "1_000/s",
                "1/s/s",
                "1000000000000000000/s",
                "1/1000000000000000000s",
                "\u0661/s"
            })
    void whatIsNoRateIsRefused(String written) {
        refused(() -> Rate.parse(written), "rate is '" + written + "'; write a rate such as 1/s, 60/m or 5/15m");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"0/s", "1/0s", "0/0us", "1000000000001/s", "1/3661d", "1/999999999999999999d", "1/99999999999s"})
    void aRateOutOfRangeIsRefusedWithTheRange(String written) {
        refused(
                () -> Rate.parse(written),
                "rate is '" + written
                        + "'; write 1 to 1000000000000 permits in 1us to 3660d, such as 1/s, 60/m or 5/15m");
    }

    @Test
    void numbersOutOfRangeAreRefused() {
        refused(() -> Rate.perSecond(0), "rate is 0; write a whole number from 1 to 1000000000000");
        refused(() -> Rate.perMinute(-1), "rate is -1; write a whole number from 1 to 1000000000000");
        refused(() -> Rate.of(1, Duration.ZERO), "rate is '0s'; write a time such as 1m");
        refused(
                () -> Rate.of(1, Duration.ofSeconds(-1)),
                "rate is 'PT-1S'; write a time in whole microseconds of at most 3660d, such as 1m");
        refused(
                () -> Rate.of(1, Duration.ofNanos(1)),
                "rate is 'PT0.000000001S'; write a time in whole microseconds of at most 3660d, such as 1m");
    }
}
