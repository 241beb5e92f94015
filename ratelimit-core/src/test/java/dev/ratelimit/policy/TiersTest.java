package dev.ratelimit.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.Window.CalendarUnit;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.caller.Tiers;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TiersTest {

    private static final ZoneId UTC = ZoneId.of("UTC");
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private static final Quota FREE = quota(null, 1000L, null, null, 20L);
    private static final Quota PREMIUM = quota(50L, null, null, 1_000_000L, null);

    private static final Tiers TIERS = new Tiers(
            "free",
            ordered("ROLE_ENTERPRISE", "enterprise", "ROLE_PREMIUM", "premium"),
            Map.of("free", FREE, "premium", PREMIUM),
            UTC);

    @Test
    void tierComesFromTheKeyElseTheAccountElseAnAuthorityElseTheDefault() {
        Accounts accounts = user -> new Account(user, user.equals("alice") ? "premium" : null, Quota.NONE, null, null);
        ApiKey tiered = new ApiKey("id", "ci", "alice", "enterprise", Quota.NONE);
        ApiKey plain = new ApiKey("id", "ci", "alice", null, Quota.NONE);

        assertThat(TIERS.caller("bob", Set.of("ROLE_PREMIUM"), tiered, accounts).tier())
                .isEqualTo("enterprise");
        assertThat(TIERS.caller(null, Set.of(), plain, accounts).tier()).isEqualTo("premium");
        assertThat(TIERS.caller("alice", Set.of("ROLE_ENTERPRISE"), null, accounts)
                        .tier())
                .isEqualTo("premium");
        assertThat(TIERS.caller("bob", Set.of("ROLE_PREMIUM", "ROLE_ENTERPRISE"), null, accounts)
                        .tier())
                .isEqualTo("enterprise");
        assertThat(TIERS.caller("bob", Set.of(), null, accounts).tier()).isEqualTo("free");
        assertThat(TIERS.caller(null, Set.of(), null, accounts).tier()).isEqualTo("free");
    }

    @Test
    void ownerOfTheKeyIsTheUserWhenNobodyIsLoggedIn() {
        ApiKey key = new ApiKey("id", "ci", "alice", null, Quota.NONE);

        assertThat(TIERS.caller(null, Set.of(), key, Accounts.NONE).user()).isEqualTo("alice");
        assertThat(TIERS.caller("bob", Set.of(), key, Accounts.NONE).user()).isEqualTo("bob");
    }

    @Test
    void quotaOfTheUserOverridesThatOfTheTierNumberByNumber() {
        Accounts accounts = user -> new Account(user, null, quota(null, 5000L, 20_000L, null, null), null, null);

        assertThat(TIERS.caller("alice", Set.of(), null, accounts).quota())
                .containsExactlyElementsOf(
                        quota(null, 5000L, 20_000L, null, 20L).limits(UTC));
    }

    @Test
    void keyWithNumbersOfItsOwnIsCountedByItself() {
        ApiKey own = new ApiKey("id", "ci", "alice", null, quota(5L, null, null, null, null));
        ApiKey shared = new ApiKey("id", "ci", "alice", null, Quota.NONE);

        assertThat(TIERS.caller(null, Set.of(), own, Accounts.NONE).quotaSubject(null))
                .isEqualTo(own.subject());
        assertThat(TIERS.caller(null, Set.of(), shared, Accounts.NONE).quotaSubject(null))
                .isEqualTo(Subject.user("alice"));
    }

    @Test
    void quotaIsABucketForItsBurstAndWindowsOfTheCalendar() {
        assertThat(FREE.limits(UTC))
                .containsExactly(
                        Limit.named("quota:burst")
                                .algorithm(new TokenBucket(20, Rate.of(1000, Duration.ofHours(1))))
                                .build(),
                        Limit.named("quota:hour")
                                .algorithm(new FixedWindow(1000, CalendarUnit.HOUR, UTC))
                                .build(),
                        Limit.named("quota:day")
                                .algorithm(new FixedWindow(Limit.UNRESTRICTED, CalendarUnit.DAY, UTC))
                                .build(),
                        Limit.named("quota:month")
                                .algorithm(new FixedWindow(Limit.UNRESTRICTED, CalendarUnit.MONTH, UTC))
                                .build());
        assertThat(PREMIUM.limits(BERLIN))
                .containsExactly(
                        Limit.named("quota:second")
                                .algorithm(new FixedWindow(50, Duration.ofSeconds(1)))
                                .build(),
                        Limit.named("quota:day")
                                .algorithm(new FixedWindow(Limit.UNRESTRICTED, CalendarUnit.DAY, BERLIN))
                                .build(),
                        Limit.named("quota:month")
                                .algorithm(new FixedWindow(1_000_000, CalendarUnit.MONTH, BERLIN))
                                .build());
        assertThat(new Quota(null, null, 5L, null, null, BERLIN).day(UTC))
                .isEqualTo(Limit.named("quota:day")
                        .algorithm(new FixedWindow(5, CalendarUnit.DAY, BERLIN))
                        .build());
    }

    @Test
    void burstIsRefilledAtTheFinestNumber() {
        assertThat(quota(5L, 100L, null, null, 20L).limits(UTC))
                .extracting(Limit::name)
                .doesNotContain("quota:second");
        assertThat(quota(5L, 100L, null, null, 20L).limits(UTC).get(0))
                .isEqualTo(Limit.named("quota:burst")
                        .algorithm(new TokenBucket(20, Rate.perSecond(5)))
                        .build());
        assertThat(quota(null, null, null, 300L, 20L).limits(UTC).get(0))
                .isEqualTo(Limit.named("quota:burst")
                        .algorithm(new TokenBucket(20, Rate.of(10, Duration.ofDays(1))))
                        .build());
    }

    @Test
    void anyBurstGoesWithAnyOtherNumber() {
        long most = Limit.UNRESTRICTED - 1;
        for (Quota own : new Quota[] {
            quota(1L, null, null, null, null),
            quota(most, null, null, null, null),
            quota(null, 1L, null, null, null),
            quota(null, null, most, null, null),
            quota(null, null, null, 1L, null),
            quota(null, null, null, most, null)
        }) {
            Quota ofTier = quota(null, null, null, 7L, 500_000L);
            assertThat(own.orElse(ofTier).limits(UTC)).isNotEmpty();
        }
        assertThatThrownBy(() -> quota(1L, null, null, null, 500_001L))
                .hasMessage("limit 'quota': burst is 500001; write a whole number from 1 to 500000");
    }

    @Test
    void numbersThatCannotBeRightAreRefused() {
        assertThatThrownBy(() -> quota(null, 0L, null, null, null))
                .hasMessageStartingWith("limit 'quota': per-hour is 0; write a whole number from 1 to");
        assertThatThrownBy(() -> quota(null, null, null, null, 5L))
                .hasMessage("limit 'quota': burst is 5; write per-second, per-hour, per-day or per-month beside it");
    }

    private static Quota quota(
            @Nullable Long second,
            @Nullable Long hour,
            @Nullable Long day,
            @Nullable Long month,
            @Nullable Long burst) {
        return new Quota(second, hour, day, month, burst, null);
    }

    private static Map<String, String> ordered(String... pairs) {
        Map<String, String> ordered = new LinkedHashMap<>();
        List<String> all = List.of(pairs);
        for (int i = 0; i < all.size(); i += 2) {
            ordered.put(all.get(i), all.get(i + 1));
        }
        return ordered;
    }
}
