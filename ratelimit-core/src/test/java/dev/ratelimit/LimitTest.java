package dev.ratelimit;

import static dev.ratelimit.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final long MOST = 1_000_000_000_000L;

    private static Limit.Builder api() {
        return Limit.named("api");
    }

    @Test
    void aLimitHasItsPartsAndDefaults() {
        Limit limit = api().algorithm(() -> new FixedWindow(5, MINUTE)).build();

        assertThat(limit.name()).isEqualTo("api");
        assertThat(limit.algorithm()).isEqualTo(new FixedWindow(5, new Window.Span(MINUTE)));
        assertThat(limit.capacity()).isEqualTo(5);
        assertThat(limit.cost()).isEqualTo(1);
        assertThat(limit.minInterval()).isEqualTo(Duration.ZERO);
        assertThat(limit.hasMinInterval()).isFalse();
        assertThat(limit.penalties()).isEqualTo(Penalties.NONE);
        assertThat(limit.penalties().forgetAfter()).isEqualTo(Duration.ofHours(24));
    }

    @Test
    void everyPartCanBeSaid() {
        Limit limit = api().algorithm(() -> new SlidingWindow(100, MINUTE))
                .cost(3)
                .minInterval(Duration.ofMillis(250))
                .penalty(1, MINUTE)
                .penalty(3, Duration.ofMinutes(5))
                .forgetAfter(Duration.ofHours(2))
                .build();

        assertThat(limit.algorithm()).isEqualTo(new SlidingWindow(100, MINUTE));
        assertThat(limit.cost()).isEqualTo(3);
        assertThat(limit.minInterval()).isEqualTo(Duration.ofMillis(250));
        assertThat(limit.hasMinInterval()).isTrue();
        assertThat(limit.penalties().steps())
                .containsExactly(new Penalties.Step(1, MINUTE), new Penalties.Step(3, Duration.ofMinutes(5)));
        assertThat(limit.penalties().forgetAfter()).isEqualTo(Duration.ofHours(2));
    }

    @Test
    void capacityIsWhatTheAlgorithmCanGrant() {
        assertThat(api().algorithm(() -> new SlidingWindow(7, MINUTE)).build().capacity())
                .isEqualTo(7);
        assertThat(api().algorithm(() -> new SlidingLog(8, MINUTE)).build().capacity())
                .isEqualTo(8);
        assertThat(api().algorithm(() -> new TokenBucket(9, Rate.perSecond(1)))
                        .build()
                        .capacity())
                .isEqualTo(9);
        assertThat(api().algorithm(() -> new LeakyBucket(10, Rate.perSecond(1)))
                        .build()
                        .capacity())
                .isEqualTo(10);
    }

    @Test
    void algorithmsAreWrittenAsInConfiguration() {
        assertThat(api().algorithm(() -> new FixedWindow(7, MINUTE))
                        .build()
                        .algorithm()
                        .name())
                .isEqualTo("fixed-window");
        assertThat(api().algorithm(() -> new SlidingWindow(7, MINUTE))
                        .build()
                        .algorithm()
                        .name())
                .isEqualTo("sliding-window");
        assertThat(api().algorithm(() -> new SlidingLog(8, MINUTE))
                        .build()
                        .algorithm()
                        .name())
                .isEqualTo("sliding-log");
        assertThat(api().algorithm(() -> new TokenBucket(9, Rate.perSecond(1)))
                        .build()
                        .algorithm()
                        .name())
                .isEqualTo("token-bucket");
        assertThat(api().algorithm(() -> new LeakyBucket(10, Rate.perSecond(1)))
                        .build()
                        .algorithm()
                        .name())
                .isEqualTo("leaky-bucket");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, MOST + 1, Long.MAX_VALUE})
    void numbersOutOfRangeAreRefused(long number) {
        String advice = " is " + number + "; write a whole number from 1 to 1000000000000";
        Rate rate = Rate.perSecond(1);

        refused(() -> api().algorithm(() -> new FixedWindow(number, MINUTE)), "limit 'api': max-requests" + advice);
        refused(
                () -> api().algorithm(() -> new FixedWindow(number, Window.CalendarUnit.DAY, ZoneId.of("UTC"))),
                "limit 'api': max-requests" + advice);
        refused(() -> api().algorithm(() -> new SlidingWindow(number, MINUTE)), "limit 'api': max-requests" + advice);
        refused(() -> api().algorithm(() -> new TokenBucket(number, rate)), "limit 'api': burst" + advice);
        refused(() -> api().algorithm(() -> new LeakyBucket(number, rate)), "limit 'api': capacity" + advice);
        refused(
                () -> api().algorithm(() -> new FixedWindow(5, MINUTE))
                        .cost(number)
                        .build(),
                "limit 'api': cost" + advice);
        refused(() -> api().penalty(number, MINUTE), "limit 'api': penalties.after" + advice);
    }

    @Test
    void theLeastAndTheMostAreTaken() {
        assertThat(api().algorithm(() -> new FixedWindow(1, MINUTE)).build().capacity())
                .isEqualTo(1);
        assertThat(api().algorithm(() -> new FixedWindow(MOST, MINUTE))
                        .cost(MOST)
                        .build()
                        .cost())
                .isEqualTo(MOST);
        assertThat(api().algorithm(() -> new SlidingWindow(MOST, MINUTE))
                        .build()
                        .capacity())
                .isEqualTo(MOST);
        assertThat(api().algorithm(() -> new TokenBucket(MOST, Rate.perSecond(1)))
                        .build()
                        .capacity())
                .isEqualTo(MOST);
        assertThat(api().algorithm(() -> new LeakyBucket(MOST, Rate.perSecond(1)))
                        .build()
                        .capacity())
                .isEqualTo(MOST);
        Duration least = Duration.ofNanos(1_000);
        Duration most = Duration.ofDays(3660);
        assertThat(api().algorithm(() -> new SlidingWindow(1, least)).build().algorithm())
                .isEqualTo(new SlidingWindow(1, least));
        assertThat(api().algorithm(() -> new SlidingWindow(1, most)).build().algorithm())
                .isEqualTo(new SlidingWindow(1, most));
    }

    @Test
    void aSlidingLogTakesAtMostTenThousand() {
        assertThat(api().algorithm(() -> new SlidingLog(10_000, MINUTE)).build().capacity())
                .isEqualTo(10_000);

        refused(
                () -> api().algorithm(() -> new SlidingLog(10_001, MINUTE)),
                "limit 'api': max-requests is 10001; write a whole number from 1 to 10000");
        refused(
                () -> api().algorithm(() -> new SlidingLog(0, MINUTE)),
                "limit 'api': max-requests is 0; write a whole number from 1 to 10000");
    }

    @Test
    void aTimeOfZeroIsRefusedWhereOneIsNeeded() {
        String advice = " is '0s'; write a time such as 1m";

        refused(() -> api().algorithm(() -> new FixedWindow(5, Duration.ZERO)), "limit 'api': window" + advice);
        refused(() -> api().algorithm(() -> new SlidingWindow(5, Duration.ZERO)), "limit 'api': window" + advice);
        refused(() -> api().algorithm(() -> new SlidingLog(5, Duration.ZERO)), "limit 'api': window" + advice);
        refused(
                () -> api().algorithm(() -> LeakyBucket.queue(Rate.perSecond(1), Duration.ZERO)),
                "limit 'api': max-wait" + advice);
        refused(() -> api().penalty(1, Duration.ZERO), "limit 'api': penalties.block" + advice);
        refused(
                () -> api().algorithm(() -> new FixedWindow(5, MINUTE))
                        .forgetAfter(Duration.ZERO)
                        .build(),
                "limit 'api': forget-after" + advice);
    }

    @Test
    void timesThatAreNegativeOrTooFineOrTooLongAreRefused() {
        refusedTime(Duration.ofMinutes(-1), "PT-1M");
        refusedTime(Duration.ofNanos(-1), "PT-0.000000001S");
        refusedTime(Duration.ofNanos(1), "PT0.000000001S");
        refusedTime(Duration.ofNanos(1_500), "PT0.0000015S");
        refusedTime(Duration.ofSeconds(1, 999), "PT1.000000999S");
        refusedTime(Duration.ofDays(3661), "3661d");
        refusedTime(Duration.ofDays(3660).plusMillis(1), "316224000001ms");
    }

    @Test
    void timesBeyondAllCountingAreRefusedAlike() {
        refusedTime(Duration.ofDays(99_999_999_999L), "99999999999d");
        refusedTime(Duration.ofSeconds(Long.MAX_VALUE), "9223372036854775807s");
        refusedTime(Duration.ofSeconds(Long.MAX_VALUE, 500_000_000), "PT2562047788015215H30M7.5S");
        refusedTime(Duration.ofSeconds(Long.MAX_VALUE, 1_000), "PT2562047788015215H30M7.000001S");
        refusedTime(Duration.ofSeconds(Long.MIN_VALUE), "PT-2562047788015215H-30M-8S");
    }

    private static void refusedTime(Duration time, String shown) {
        String advice = " is '" + shown + "'; write a time in whole microseconds of at most 3660d, such as 1m";
        refused(() -> api().algorithm(() -> new FixedWindow(5, time)), "limit 'api': window" + advice);
        refused(() -> api().algorithm(() -> new SlidingWindow(5, time)), "limit 'api': window" + advice);
        refused(() -> api().algorithm(() -> new SlidingLog(5, time)), "limit 'api': window" + advice);
        refused(
                () -> api().algorithm(() -> LeakyBucket.queue(Rate.perSecond(1), time)),
                "limit 'api': max-wait" + advice);
        refused(() -> api().penalty(1, time), "limit 'api': penalties.block" + advice);
        refused(
                () -> api().algorithm(() -> new FixedWindow(5, MINUTE))
                        .forgetAfter(time)
                        .build(),
                "limit 'api': forget-after" + advice);
        refused(
                () -> api().algorithm(() -> new FixedWindow(5, MINUTE))
                        .minInterval(time)
                        .build(),
                "limit 'api': min-interval" + advice);
    }

    @Test
    void aCostAboveWhatTheLimitCanGrantIsRefused() {
        String advice = "limit 'api': cost is 6; write at most 5, all that this limit can grant";

        refused(() -> api().algorithm(() -> new FixedWindow(5, MINUTE)).cost(6).build(), advice);
        refused(
                () -> api().algorithm(() -> new SlidingWindow(5, MINUTE))
                        .cost(6)
                        .build(),
                advice);
        refused(() -> api().algorithm(() -> new SlidingLog(5, MINUTE)).cost(6).build(), advice);
        refused(
                () -> api().algorithm(() -> new TokenBucket(5, Rate.perSecond(1)))
                        .cost(6)
                        .build(),
                advice);
        refused(
                () -> api().algorithm(() -> new LeakyBucket(5, Rate.perSecond(1)))
                        .cost(6)
                        .build(),
                advice);
        assertThat(api().algorithm(() -> new TokenBucket(5, Rate.perSecond(1)))
                        .cost(5)
                        .build()
                        .cost())
                .isEqualTo(5);
    }

    @Test
    void aBucketWhoseUnitsWouldOverflowIsRefused() {
        Rate slow = Rate.of(1, Duration.ofDays(3660));

        assertThat(api().algorithm(() -> new TokenBucket(7291, slow)).build().capacity())
                .isEqualTo(7291);
        assertThat(api().algorithm(() -> new LeakyBucket(7291, slow)).build().capacity())
                .isEqualTo(7291);
        refused(
                () -> api().algorithm(() -> new TokenBucket(7292, slow)),
                "limit 'api': burst is 7292; write at most 7291 for the rate 1/3660d, or a rate with a rounder number");
        refused(
                () -> api().algorithm(() -> new LeakyBucket(7292, slow)),
                "limit 'api': capacity is 7292; write at most 7291 for the rate 1/3660d,"
                        + " or a rate with a rounder number");
    }

    @Test
    void aQueueHoldsThoseWhoseTurnComesInTime() {
        Limit limit = api().algorithm(() -> LeakyBucket.queue(Rate.perSecond(10), Duration.ofSeconds(1)))
                .build();

        assertThat(limit.algorithm()).isEqualTo(new LeakyBucket(11, Rate.perSecond(10), Duration.ofSeconds(1)));
        assertThat(api().algorithm(() -> LeakyBucket.queue(Rate.perSecond(1), Duration.ofMillis(999)))
                        .build()
                        .capacity())
                .isEqualTo(1);
    }

    @Test
    void aQueueIsNoLongerThanItsUnitsCanCount() {
        Limit limit = api().algorithm(
                        () -> LeakyBucket.queue(Rate.of(99_999_999, Duration.ofSeconds(7)), Duration.ofDays(1)))
                .build();

        assertThat(limit.capacity()).isEqualTo((1L << 61) / 7_000_000);
        assertThat(((LeakyBucket) limit.algorithm()).mostAhead()).isEqualTo((1L << 61) / 7_000_000 * 7_000_000);
        assertThat(api().algorithm(() -> LeakyBucket.queue(Rate.perSecond(100_000_000), Duration.ofDays(3660)))
                        .build()
                        .capacity())
                .isEqualTo(MOST);
    }

    @Test
    void minIntervalIsRefusedForAQueueAndTakenForAMeter() {
        refused(
                () -> api().algorithm(() -> LeakyBucket.queue(Rate.perSecond(1), MINUTE))
                        .minInterval(Duration.ofMillis(1500))
                        .build(),
                "limit 'api': min-interval is '1500ms'; leave it out: a leaky bucket with max-wait spaces its requests"
                        + " by drain");
        assertThat(api().algorithm(() -> new LeakyBucket(5, Rate.perSecond(1)))
                        .minInterval(MINUTE)
                        .build()
                        .minInterval())
                .isEqualTo(MINUTE);
    }

    @Test
    void aLimitWithoutAnAlgorithmIsRefused() {
        refused(() -> api().build(), "limit 'api': algorithm is missing; choose one of dev.ratelimit.algorithm");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "-api", ".api", "a b", "api ", "größe", "a+b", "a%b", "a~b", "a'b", "a\nb", "a\u0000"})
    void namesOfOtherCharactersAreRefused(String name) {
        refused(
                () -> Limit.named(name)
                        .algorithm(() -> new FixedWindow(5, MINUTE))
                        .build(),
                "limit name is '" + name
                        + "'; write 1 to 100 letters, digits, '.', '_', ':', '/' or '-', a letter or digit first");
    }

    @Test
    void aNameOfMoreThanAHundredCharactersIsRefusedAndShownInShort() {
        assertThat(Limit.named("a".repeat(100))
                        .algorithm(() -> new FixedWindow(5, MINUTE))
                        .build()
                        .name())
                .hasSize(100);
        refused(
                () -> Limit.named("a".repeat(101))
                        .algorithm(() -> new FixedWindow(5, MINUTE))
                        .build(),
                "limit name is '" + "a".repeat(101)
                        + "'; write 1 to 100 letters, digits, '.', '_', ':', '/' or '-', a letter or digit first");
        refused(
                () -> Limit.named("a".repeat(1_000_000))
                        .algorithm(() -> new FixedWindow(5, MINUTE))
                        .build(),
                "limit name is '" + "a".repeat(116)
                        + "...; write 1 to 100 letters, digits, '.', '_', ':', '/' or '-', a letter or digit first");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "7", "login", "GET:/api/v1.0/users_all", "a-b"})
    void ordinaryNamesAreTaken(String name) {
        assertThat(Limit.named(name)
                        .algorithm(() -> new FixedWindow(5, MINUTE))
                        .build()
                        .name())
                .isEqualTo(name);
    }

    @Test
    void anOffsetIsRefusedAsAZone() {
        String advice = "; write a name of the time zone database such as Europe/Berlin or UTC";

        refused(
                () -> api().algorithm(() -> new FixedWindow(5, Window.CalendarUnit.DAY, ZoneOffset.ofHours(2))),
                "limit 'api': zone is '+02:00'" + advice);
        refused(
                () -> api().algorithm(() -> new FixedWindow(5, Window.CalendarUnit.DAY, ZoneOffset.UTC)),
                "limit 'api': zone is 'Z'" + advice);
        refused(
                () -> api().algorithm(() -> new FixedWindow(5, Window.CalendarUnit.DAY, ZoneId.of("GMT+2"))),
                "limit 'api': zone is 'GMT+02:00'" + advice);
    }

    @Test
    void aCalendarWindowKeepsItsUnitAndZone() {
        Limit limit = api().algorithm(() -> new FixedWindow(5, Window.CalendarUnit.DAY, ZoneId.of("Europe/Berlin")))
                .build();

        assertThat(limit.algorithm())
                .isEqualTo(
                        new FixedWindow(5, new Window.Calendar(Window.CalendarUnit.DAY, ZoneId.of("Europe/Berlin"))));
        assertThat(((FixedWindow) limit.algorithm()).alignment()).hasToString("day in Europe/Berlin");
    }

    @Test
    void aPartThatWasBuiltOnItsOwnIsRefusedWithoutALimitName() {
        refused(() -> new SlidingWindow(0, MINUTE), "max-requests is 0; write a whole number from 1 to 1000000000000");
        refused(() -> new Window.Span(Duration.ZERO), "window is '0s'; write a time such as 1m");
    }
}
