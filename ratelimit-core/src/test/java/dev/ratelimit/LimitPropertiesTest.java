package dev.ratelimit;

import static dev.ratelimit.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LimitPropertiesTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** The limit 'api' of properties, each written as {@code name=value}. */
    private static Limit limit(String... properties) {
        return Algorithms.limit("api", map(properties));
    }

    /** A fixed window that is right, with more properties. */
    private static Limit fixedWindowWith(String... properties) {
        Map<String, String> all = map("algorithm=fixed-window", "max-requests=5", "window=1m");
        all.putAll(map(properties));
        return Algorithms.limit("api", all);
    }

    private static Map<String, String> map(String... properties) {
        Map<String, String> map = new LinkedHashMap<>();
        for (String property : properties) {
            int equals = property.indexOf('=');
            map.put(property.substring(0, equals), property.substring(equals + 1));
        }
        return map;
    }

    @Test
    void everyAlgorithmIsRead() {
        assertThat(limit("algorithm=fixed-window", "max-requests=5", "window=1m"))
                .isEqualTo(
                        Limit.named("api").algorithm(new FixedWindow(5, MINUTE)).build());
        assertThat(limit("algorithm=sliding-window", "max-requests=5", "window=1m"))
                .isEqualTo(Limit.named("api")
                        .algorithm(new SlidingWindow(5, MINUTE))
                        .build());
        assertThat(limit("algorithm=sliding-log", "max-requests=10000", "window=1m"))
                .isEqualTo(Limit.named("api")
                        .algorithm(new SlidingLog(10_000, MINUTE))
                        .build());
        assertThat(limit("algorithm=token-bucket", "burst=10", "refill=60/m"))
                .isEqualTo(Limit.named("api")
                        .algorithm(new TokenBucket(10, Rate.perSecond(1)))
                        .build());
        assertThat(limit("algorithm=leaky-bucket", "capacity=10", "drain=1/s"))
                .isEqualTo(Limit.named("api")
                        .algorithm(new LeakyBucket(10, Rate.perSecond(1)))
                        .build());
        assertThat(limit("algorithm=leaky-bucket", "drain=1/s", "max-wait=10s"))
                .isEqualTo(Limit.named("api")
                        .algorithm(LeakyBucket.queue(Rate.perSecond(1), Duration.ofSeconds(10)))
                        .build());
        assertThat(limit("algorithm=leaky-bucket", "capacity=3", "drain=1/s", "max-wait=10s")
                        .algorithm())
                .isEqualTo(new LeakyBucket(3, Rate.perSecond(1), Duration.ofSeconds(10)));
        assertThat(limit("algorithm=leaky-bucket", "capacity=3", "drain=1/s", "max-wait=0s")
                        .algorithm())
                .isEqualTo(new LeakyBucket(3, Rate.perSecond(1), Duration.ZERO));
    }

    @Test
    void whatIsLeftOutOrBlankHasItsDefault() {
        Limit plain = fixedWindowWith();

        assertThat(plain.cost()).isEqualTo(1);
        assertThat(plain.minInterval()).isEqualTo(Duration.ZERO);
        assertThat(plain.penalties()).isEqualTo(Penalties.NONE);
        assertThat(fixedWindowWith("cost=", "min-interval= ", "penalties=", "forget-after="))
                .isEqualTo(plain);
    }

    @Test
    void whatEveryAlgorithmTakesIsRead() {
        assertThat(fixedWindowWith("penalties=2 -> forever", "retry-after=5s"))
                .isEqualTo(Limit.named("api")
                        .algorithm(new FixedWindow(5, MINUTE))
                        .penalty(2, Penalties.FOREVER)
                        .retryAfter(Duration.ofSeconds(5))
                        .build());
        assertThat(fixedWindowWith("cost=2", "min-interval=500ms", "penalties=1 -> 1m, 3->5m", "forget-after=12h"))
                .isEqualTo(Limit.named("api")
                        .algorithm(new FixedWindow(5, MINUTE))
                        .cost(2)
                        .minInterval(Duration.ofMillis(500))
                        .penalty(1, MINUTE)
                        .penalty(3, Duration.ofMinutes(5))
                        .forgetAfter(Duration.ofHours(12))
                        .build());
    }

    @ParameterizedTest
    @CsvSource({
        "1us, PT0.000001S",
        "500ms, PT0.5S",
        "10s, PT10S",
        "15m, PT15M",
        "1h, PT1H",
        "1d, PT24H",
        "PT15M, PT15M",
        "PT0.000001S, PT0.000001S",
        "P1D, PT24H",
        "' 15 m ', PT15M",
        "3660d, PT87840H"
    })
    void timesAreReadAsWritten(String written, Duration time) {
        assertThat(fixedWindowWith("window=" + written).algorithm())
                .isEqualTo(new FixedWindow(5, new Window.Span(time)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fixed-window", "fixed_window", "FIXED_WINDOW", "Fixed-Window", " fixed-window "})
    void algorithmsMayBeWrittenWithUnderscoresAndCapitals(String written) {
        assertThat(fixedWindowWith("algorithm=" + written)).isEqualTo(fixedWindowWith());
    }

    @Test
    void numbersMayBeWrittenWithUnderscores() {
        assertThat(fixedWindowWith("max-requests=1_000_000").capacity()).isEqualTo(1_000_000);
        assertThat(fixedWindowWith("max-requests=1_0", "cost=1_0").cost()).isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource({"hour, HOUR", "day, DAY", "week, WEEK", "month, MONTH", "Day, DAY", "' MONTH ', MONTH"})
    void calendarWindowsAreReadAndAreOfUtcUnlessSaidOtherwise(String written, Window.CalendarUnit unit) {
        assertThat(fixedWindowWith("window=" + written).algorithm())
                .isEqualTo(new FixedWindow(5, new Window.Calendar(unit, ZoneId.of("UTC"))));
        assertThat(fixedWindowWith("window=" + written, "zone= Europe/Berlin ").algorithm())
                .isEqualTo(new FixedWindow(5, new Window.Calendar(unit, ZoneId.of("Europe/Berlin"))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "+02:00",
                "-5",
                "GMT+2",
                "GMT+02:00",
                "UTC+1",
                "UT",
                "Z",
                "europe/berlin",
                "Europe/Atlantis",
                "CEST",
                "?"
            })
    void whatIsNoNameOfTheZoneDatabaseIsRefused(String zone) {
        if (ZoneId.getAvailableZoneIds().contains(zone)) {
            throw new IllegalArgumentException(zone + " is one");
        }
        refused(
                () -> fixedWindowWith("window=day", "zone=" + zone),
                "limit 'api': zone is '" + zone
                        + "'; write a name of the time zone database such as Europe/Berlin or UTC");
    }

    @Test
    void aZoneWithoutACalendarWindowIsRefused() {
        refused(
                () -> fixedWindowWith("zone=Europe/Berlin"),
                "limit 'api': zone is 'Europe/Berlin'; leave it out, or write hour, day, week or month as the window");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "-9223372036854775808", "1000000000001", "9223372036854775807"})
    void numbersOutOfRangeAreRefused(String number) {
        String advice = " is " + number + "; write a whole number from 1 to 1000000000000";

        refused(() -> fixedWindowWith("max-requests=" + number), "limit 'api': max-requests" + advice);
        refused(() -> fixedWindowWith("cost=" + number), "limit 'api': cost" + advice);
        refused(
                () -> limit("algorithm=sliding-window", "window=1m", "max-requests=" + number),
                "limit 'api': max-requests" + advice);
        refused(() -> limit("algorithm=token-bucket", "refill=1/s", "burst=" + number), "limit 'api': burst" + advice);
        refused(
                () -> limit("algorithm=leaky-bucket", "drain=1/s", "capacity=" + number),
                "limit 'api': capacity" + advice);
    }

    @ParameterizedTest
    @ValueSource(strings = {"five", "5.0", "5e3", "0x10", "_", "5 000", "9223372036854775808", "1,000", "5/m"})
    void whatIsNoNumberIsRefused(String written) {
        String advice = " is '" + written + "'; write a whole number, such as 100";

        refused(() -> fixedWindowWith("max-requests=" + written), "limit 'api': max-requests" + advice);
        refused(() -> fixedWindowWith("cost=" + written), "limit 'api': cost" + advice);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "60",
                "1w",
                "1M",
                "-5m",
                "1.5s",
                "1m30s",
                "always",
                "PT",
                "P1M",
                "1000000000000000000s",
                "999999999999999999d",
                "fortnight"
            })
    void whatIsNoTimeIsRefused(String written) {
        String advice = " is '" + written + "'; write a time such as 500ms, 10s, 15m, 1h, 1d or PT15M";

        refused(
                () -> limit("algorithm=sliding-log", "max-requests=5", "window=" + written),
                "limit 'api': window" + advice);
        refused(() -> fixedWindowWith("min-interval=" + written), "limit 'api': min-interval" + advice);
        refused(() -> fixedWindowWith("forget-after=" + written), "limit 'api': forget-after" + advice);
        refused(
                () -> fixedWindowWith("penalties=1 -> " + written),
                "limit 'api': penalties.block" + advice + "; or forever");
        refused(
                () -> limit("algorithm=leaky-bucket", "drain=1/s", "max-wait=" + written),
                "limit 'api': max-wait" + advice);
    }

    @Test
    void whatIsNoWindowIsRefusedWithAllThatAWindowCanBe() {
        refused(
                () -> fixedWindowWith("window=daily"),
                "limit 'api': window is 'daily'; write a time such as 1m, or hour, day, week or month");
    }

    @ParameterizedTest
    @CsvSource({
        "PT0.0000001S, PT0.0000001S",
        "PT0.000001001S, PT0.000001001S",
        "-PT5M, PT-5M",
        "3661d, 3661d",
        "PT9223372036854775807.5S, PT2562047788015215H30M7.5S"
    })
    void timesThatAreTooFineOrNegativeOrTooLongAreRefused(String written, String shown) {
        String advice = " is '" + shown + "'; write a time in whole microseconds of at most 3660d, such as 1m";

        refused(() -> fixedWindowWith("window=" + written), "limit 'api': window" + advice);
        refused(() -> fixedWindowWith("min-interval=" + written), "limit 'api': min-interval" + advice);
        refused(() -> fixedWindowWith("forget-after=" + written), "limit 'api': forget-after" + advice);
        refused(() -> fixedWindowWith("penalties=1 -> " + written), "limit 'api': penalties.block" + advice);
        refused(
                () -> limit("algorithm=leaky-bucket", "drain=1/s", "max-wait=" + written),
                "limit 'api': max-wait" + advice);
        refused(
                () -> limit("algorithm=leaky-bucket", "capacity=5", "drain=1/s", "max-wait=" + written),
                "limit 'api': max-wait" + advice);
    }

    @Test
    void aTimeOfZeroIsRefusedWhereOneIsNeeded() {
        refused(() -> fixedWindowWith("window=0s"), "limit 'api': window is '0s'; write a time such as 1m");
        refused(() -> fixedWindowWith("window=PT0S"), "limit 'api': window is '0s'; write a time such as 1m");
        refused(() -> fixedWindowWith("forget-after=0d"), "limit 'api': forget-after is '0s'; write a time such as 1m");
        assertThat(fixedWindowWith("min-interval=0s").hasMinInterval()).isFalse();
    }

    @Test
    void aMissingPropertyIsRefusedWithWhatToWrite() {
        String number = " is missing; write a whole number of at least 1";
        String rate = " is missing; write a rate such as 1/s, 60/m or 5/15m";

        refused(
                () -> limit("max-requests=5", "window=1m"),
                "limit 'api': algorithm is missing; write one of fixed-window, sliding-window, sliding-log,"
                        + " token-bucket, leaky-bucket");
        refused(() -> limit("algorithm=fixed-window", "window=1m"), "limit 'api': max-requests" + number);
        refused(() -> fixedWindowWith("max-requests= "), "limit 'api': max-requests" + number);
        refused(
                () -> limit("algorithm=fixed-window", "max-requests=5"),
                "limit 'api': window is missing; write a time such as 1m, or hour, day, week or month");
        refused(
                () -> limit("algorithm=sliding-window", "max-requests=5"),
                "limit 'api': window is missing; write a time such as 1m");
        refused(
                () -> limit("algorithm=sliding-log", "max-requests=5"),
                "limit 'api': window is missing; write a time such as 1m");
        refused(() -> limit("algorithm=token-bucket", "refill=1/s"), "limit 'api': burst" + number);
        refused(() -> limit("algorithm=token-bucket", "burst=5"), "limit 'api': refill" + rate);
        refused(() -> limit("algorithm=leaky-bucket", "capacity=5"), "limit 'api': drain" + rate);
        refused(() -> limit("algorithm=leaky-bucket", "drain=1/s"), "limit 'api': capacity" + number);
        refused(() -> limit("algorithm=leaky-bucket", "drain=1/s", "max-wait=0s"), "limit 'api': capacity" + number);
    }

    @Test
    void anUnknownAlgorithmIsRefusedAsItWasWritten() {
        refused(
                () -> limit("algorithm=Leaky_Window", "max-requests=5", "window=1m"),
                "limit 'api': algorithm is 'Leaky_Window'; write one of fixed-window, sliding-window, sliding-log,"
                        + " token-bucket, leaky-bucket");
    }

    @Test
    void aPropertyThatTheAlgorithmDoesNotTakeIsRefusedWithThoseItTakes() {
        refused(
                () -> fixedWindowWith("burst=10"),
                "limit 'api': burst is '10'; leave it out: fixed-window takes algorithm, cost, forget-after, lease,"
                        + " max-requests, min-interval, penalties, retry-after, window, zone");
        refused(
                () -> limit("algorithm=sliding-window", "max-requests=5", "window=1m", "zone=UTC"),
                "limit 'api': zone is 'UTC'; leave it out: sliding-window takes algorithm, cost, forget-after, lease,"
                        + " max-requests, min-interval, penalties, retry-after, window");
        refused(
                () -> limit("algorithm=sliding-log", "max-requests=5", "window=1m", "max_requests=6"),
                "limit 'api': max_requests is '6'; did you mean max-requests? sliding-log takes algorithm, cost, forget-after, lease,"
                        + " max-requests, min-interval, penalties, retry-after, window");
        refused(
                () -> limit("algorithm=token-bucket", "burst=5", "refill=1/s", "window=1m"),
                "limit 'api': window is '1m'; leave it out: token-bucket takes algorithm, burst, cost, forget-after, lease,"
                        + " min-interval, penalties, refill, retry-after");
        refused(
                () -> limit("algorithm=leaky-bucket", "capacity=5", "drain=1/s", "refill=1/s"),
                "limit 'api': refill is '1/s'; leave it out: leaky-bucket takes algorithm, capacity, cost, drain,"
                        + " forget-after, lease, max-wait, min-interval, penalties, retry-after");
    }

    @Test
    void misspeltPropertyIsAnsweredWithTheOneThatWasMeant() {
        refused(
                () -> fixedWindowWith("max-request=6"),
                "limit 'api': max-request is '6'; did you mean max-requests? fixed-window takes algorithm, cost,"
                        + " forget-after, lease, max-requests, min-interval, penalties, retry-after, window, zone");
    }

    @Test
    void badRatesAreRefusedByTheirProperty() {
        refused(
                () -> limit("algorithm=token-bucket", "burst=5", "refill=60"),
                "limit 'api': refill is '60'; write a rate such as 1/s, 60/m or 5/15m");
        refused(
                () -> limit("algorithm=leaky-bucket", "capacity=5", "drain=0/s"),
                "limit 'api': drain is '0/s'; write 1 to 1000000000000 permits in 1us to 3660d, such as 1/s, 60/m or"
                        + " 5/15m");
    }

    @Test
    void aBurstBelowTheCostIsRefused() {
        refused(
                () -> limit("algorithm=token-bucket", "burst=5", "refill=1/s", "cost=6"),
                "limit 'api': cost is 6; write at most 5, all that this limit can grant");
    }

    @Test
    void aBucketWhoseUnitsWouldOverflowIsRefused() {
        assertThat(limit("algorithm=token-bucket", "burst=7291", "refill=1/3660d")
                        .capacity())
                .isEqualTo(7291);
        refused(
                () -> limit("algorithm=token-bucket", "burst=7292", "refill=1/3660d"),
                "limit 'api': burst is 7292; write at most 7291 for the rate 1/3660d, or a rate with a rounder number");
    }

    @Test
    void aSlidingLogTakesAtMostTenThousand() {
        refused(
                () -> limit("algorithm=sliding-log", "max-requests=10_001", "window=1m"),
                "limit 'api': max-requests is 10001; write a whole number from 1 to 10000");
    }

    @Test
    void minIntervalIsRefusedForAQueue() {
        refused(
                () -> limit("algorithm=leaky-bucket", "drain=1/s", "max-wait=1m", "min-interval=2s"),
                "limit 'api': min-interval is '2s'; leave it out: a leaky bucket with max-wait spaces its requests by"
                        + " drain");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1m | 1m",
                "1 -> | 1 ->",
                "-> 1m | -> 1m",
                "1 -> 1m, | ''",
                "1 -> 1m 3 -> 5m | 1 -> 1m 3 -> 5m",
                "1 => 1m | 1 => 1m",
                "1 -> 1 m | 1 -> 1 m",
                "1 -> 1m, x -> 2m | x -> 2m",
                "1000000000000000000 -> 1m | 1000000000000000000 -> 1m"
            })
    void whatIsNoTierIsRefused(String written, String shown) {
        refused(
                () -> fixedWindowWith("penalties=" + written),
                "limit 'api': penalties is '" + shown + "'; write steps such as 1 -> 1m, 3 -> 5m");
    }

    @Test
    void tiersThatCannotBeRightAreRefused() {
        refused(
                () -> fixedWindowWith("penalties=0 -> 1m"),
                "limit 'api': penalties.after is 0; write a whole number from 1 to 1000000000000");
        refused(
                () -> fixedWindowWith("penalties=-1 -> 1m"),
                "limit 'api': penalties.after is -1; write a whole number from 1 to 1000000000000");
        refused(
                () -> fixedWindowWith("penalties=1 -> 0s"),
                "limit 'api': penalties.block is '0s'; write a time such as 1m");
        refused(
                () -> fixedWindowWith("penalties=3 -> 5m, 1 -> 1m"),
                "limit 'api': penalties[1].after is 1; write the steps in ascending order, each number of violations"
                        + " once");
        refused(
                () -> fixedWindowWith("penalties=1 -> 1m, 1 -> 5m"),
                "limit 'api': penalties[1].after is 1; write the steps in ascending order, each number of violations"
                        + " once");
    }

    @Test
    void aBadNameIsRefused() {
        refused(
                () -> Algorithms.limit("per user", map("algorithm=sliding-log", "max-requests=5", "window=1m")),
                "limit 'per user': limit name is 'per user'; write 1 to 100 letters, digits, '.', '_', ':', '/' or '-',"
                        + " a letter or digit first");
    }
}
