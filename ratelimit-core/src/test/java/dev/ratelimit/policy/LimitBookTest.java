package dev.ratelimit.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.SlidingLog;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class LimitBookTest {

    private static final Map<String, String> API =
            Map.of("algorithm", "fixed-window", "max-requests", "100", "window", "1m");

    @Test
    void limitTakesFromItsBaseWhatItDoesNotSay() {
        LimitBook book = LimitBook.of(Map.of(
                "api",
                API,
                "strict",
                Map.of("base", "api", "max-requests", "10"),
                "strictest",
                Map.of("base", "strict")));

        assertThat(found(book, "strict").capacity()).isEqualTo(10);
        assertThat(found(book, "strictest")).isEqualTo(found(book, "strict").renamed("strictest"));
    }

    @Test
    void limitsAreSwitchedOffOneByOneOrAllTogether() {
        Map<String, Map<String, String>> definitions = new LinkedHashMap<>();
        definitions.put("api", with(API, "enabled", "false"));
        definitions.put("strict", Map.of("base", "api", "max-requests", "10"));
        LimitBook book = LimitBook.of(definitions);
        assertThat(book.isOff("api")).isTrue();
        assertThat(book.isOff("strict")).as("a switch is not inherited").isFalse();
        assertThat(book.isOff()).isFalse();
        assertThat(book.names()).containsExactly("api", "strict");

        definitions.put(LimitBook.ALL, Map.of("enabled", "false"));
        book = LimitBook.of(definitions);
        assertThat(book.isOff()).isTrue();
        assertThat(book.isOff("strict")).isTrue();
        assertThat(book.isOff("quota:day")).isTrue();
        assertThat(book.names()).containsExactly("api", "strict");

        definitions.put(LimitBook.ALL, Map.of("enabled", "true"));
        assertThat(LimitBook.of(definitions).isOff()).isFalse();
    }

    @Test
    void invalidSwitchesAreNamed() {
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", with(API, "enabled", "no"))))
                .hasMessage("limit 'api': enabled is 'no'; write true or false");
        assertThatThrownBy(() -> LimitBook.of(Map.of("*", API))).hasMessageContaining("write nothing but enabled");
    }

    @Test
    void looserLimitGrantsSoManyTimesAsMuchInTheSameTime() {
        Map<String, Map<String, String>> definitions = Map.of(
                "fixed-window", with(API, "penalties", "1 -> 5m"),
                "sliding-window", with(API, "algorithm", "sliding-window"),
                "sliding-log", with(API, "algorithm", "sliding-log"),
                "token-bucket", Map.of("algorithm", "token-bucket", "burst", "100", "refill", "5/m"),
                "leaky-bucket", Map.of("algorithm", "leaky-bucket", "capacity", "100", "drain", "5/m"));
        LimitBook book = LimitBook.of(definitions);
        for (String name : book.names()) {
            Limit loose = found(book, name).times(10, "loose");
            assertThat(loose.name()).isEqualTo("loose");
            assertThat(loose.capacity()).as(name).isEqualTo(1_000);
            assertThat(loose.algorithm().window())
                    .as(name)
                    .isEqualTo(found(book, name).algorithm().window());
            assertThat(loose.penalties().isEmpty()).isTrue();
        }
        assertThat(found(book, "sliding-log").times(1_000, "loose").capacity()).isEqualTo(SlidingLog.MOST_REQUESTS);
    }

    @Test
    void cycleOfBasesIsNamed() {
        Map<String, Map<String, String>> definitions = new LinkedHashMap<>();
        definitions.put("a", Map.of("base", "b"));
        definitions.put("b", Map.of("base", "c"));
        definitions.put("c", Map.of("base", "a"));

        assertThatThrownBy(() -> LimitBook.of(definitions))
                .hasMessage("limit 'c': base is 'a'; name a limit that is not based on this one (a -> b -> c -> a)");
    }

    @Test
    void baseThatDoesNotExistIsNamed() {
        assertThatThrownBy(() -> LimitBook.of(Map.of("a", Map.of("base", "b"))))
                .hasMessage("limit 'a': base is 'b'; define a limit of that name, or leave it out");
        assertThatThrownBy(() -> LimitBook.of(Map.of("a", Map.of("base", "b"), "c", API)))
                .hasMessage("limit 'a': base is 'b'; name one of c");
    }

    @Test
    void callersOfATierHaveTheirOwnNumbersUnderTheSameName() {
        LimitBook book = LimitBook.of(Map.of("api", with(API, "tiers.premium.max-requests", "1000")));

        Limit premium = Objects.requireNonNull(book.find("api", "premium"));
        assertThat(premium.name()).isEqualTo("api");
        assertThat(premium.capacity()).isEqualTo(1000);
        assertThat(book.find("api", "free")).isEqualTo(found(book, "api"));
        assertThat(book.variesByTier("api")).isTrue();
        assertThat(book.isCurrent(premium)).isTrue();
        assertThat(book.isCurrent(Limit.named("api")
                        .algorithm(new SlidingLog(5, Duration.ofMinutes(1)))
                        .build()))
                .isFalse();
    }

    @Test
    void tiersThatCouldNotShareACountAreRefused() {
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", with(API, "tiers.premium.window", "1h"))))
                .hasMessage("limit 'api': tiers.premium is 'fixed-window of 1h'; let algorithm, window and zone come"
                        + " to fixed-window of 1m, since all tiers of a limit share one count; or write a limit of"
                        + " another name, and a rule with tiers for it");
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", with(API, "tiers.premium.algorithm", "sliding-log"))))
                .hasMessageStartingWith("limit 'api': tiers.premium is 'sliding-log of 1m'; let algorithm,");
        Map<String, String> days = Map.of(
                "algorithm", "fixed-window", "max-requests", "9", "window", "day", "tiers.premium.zone", "Asia/Tokyo");
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", days)))
                .hasMessageStartingWith("limit 'api': tiers.premium is 'fixed-window of day in Asia/Tokyo'; let");
        Map<String, String> tried = with(API, "candidate.window", "1h");
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", with(tried, "tiers.premium.candidate.max-requests", "9"))))
                .hasMessage("limit 'api': tiers.premium.candidate is 'fixed-window of 1m'; let algorithm, window and"
                        + " zone come to fixed-window of 1h, since all tiers of a limit share one count");
        Map<String, String> ofGold = with(API, "tiers.gold.candidate.window", "1h");
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", with(ofGold, "tiers.silver.candidate.window", "2h"))))
                .hasMessageStartingWith("limit 'api': tiers.silver.candidate is 'fixed-window of 2h'; let");
    }

    @Test
    void tiersOfABucketMayHaveOtherRates() {
        LimitBook book = LimitBook.of(Map.of(
                "api",
                Map.of("algorithm", "token-bucket", "burst", "5", "refill", "1/s", "tiers.premium.refill", "7/m")));

        assertThat(Objects.requireNonNull(book.find("api", "premium"))
                        .algorithm()
                        .counting())
                .isEqualTo("token-bucket");
    }

    @Test
    void candidateHasNumbersAndANameOfItsOwn() {
        LimitBook book = LimitBook.of(Map.of(
                "api", with(with(API, "candidate.max-requests", "80"), "tiers.premium.candidate.max-requests", "800")));

        Limit candidate = Objects.requireNonNull(found(book, "api").trial());
        assertThat(candidate.name()).isEqualTo("api:candidate");
        assertThat(candidate.capacity()).isEqualTo(80);
        assertThat(Objects.requireNonNull(book.find("api", "premium")).trial())
                .isNotNull()
                .extracting(Limit::capacity)
                .isEqualTo(800L);
    }

    @Test
    void mistakeIsNamedWithThePartThatItIsIn() {
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", with(API, "tiers.premium.max-requests", "many"))))
                .hasMessageStartingWith("limit 'api': tiers.premium.max-requests is 'many'; write a whole number");
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", with(API, "candidate.window", "soon"))))
                .hasMessageStartingWith("limit 'api': candidate.window is 'soon'; write a time");
        assertThatThrownBy(() -> LimitBook.of(Map.of("api", with(API, "tiers.premium", "x"))))
                .hasMessageStartingWith("limit 'api': tiers.premium is 'x'; write tiers.NAME.PROPERTY");
    }

    @Test
    void namesOfTheLimitersOwnAreRefused() {
        for (String name : new String[] {"quota", "quota:day", "api:candidate", "api:shadow"}) {
            assertThatThrownBy(() -> LimitBook.of(Map.of(name, API)))
                    .as(name)
                    .hasMessageStartingWith("limit '" + name + "': limit name is '" + name + "'; choose another name");
        }
    }

    private static Map<String, String> with(Map<String, String> definition, String property, String value) {
        Map<String, String> more = new LinkedHashMap<>(definition);
        more.put(property, value);
        return more;
    }

    private static Limit found(LimitBook book, String name) {
        return Objects.requireNonNull(book.find(name));
    }
}
