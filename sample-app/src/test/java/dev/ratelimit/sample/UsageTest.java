package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.sample.Client.Answer;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Tiers, API keys, and the usage that callers can look up. */
class UsageTest extends RunningSample {

    @Test
    @DisplayName("Usage shows the caller's tier, quota, and the rest of every group of limits")
    void usageShowsTheRestOfEveryLimit() {
        Answer usage = sample.usage("alice");

        assertThat(usage.status()).isEqualTo(200);
        assertThat(usage.<String>at("$.caller")).isEqualTo("alice");
        assertThat(usage.<String>at("$.tier")).isEqualTo("free");
        assertThat(usage.<Boolean>at("$.exempt")).isFalse();
        assertThat(usage.<Map<String, Object>>at("$.limits").keySet())
                .containsExactly("reads", "mutations", "turns", "creation", "uploads", "compose-lock", "join");
        assertThat(remaining(usage)).containsExactly(10, 5, 3, 2, 2, 2, 5);
        assertThat(usage.<Integer>at("$.quota.day.used")).isZero();
        assertThat(usage.<Integer>at("$.quota.day.limit")).isEqualTo(1_000);
        assertThat(usage.<Integer>at("$.quota.day.remaining")).isEqualTo(1_000);
        assertThat(usage.<Integer>at("$.quota.month.limit")).isEqualTo(20_000);
    }

    private static Iterable<Integer> remaining(Answer usage) {
        return usage.at("$.limits.*.remaining");
    }

    @Test
    @DisplayName("Usage shows used requests: by group, of the day and of the month")
    void usageShowsUsedRequests() {
        int before = sample.usage("alice").at("$.quota.month.used");
        sample.read("alice");
        sample.read("alice");
        sample.post("alice");
        sample.turn("alice");
        sample.acquireComposeLock("alice");
        sample.join("alice");

        Answer usage = sample.usage("alice");

        assertThat(remaining(usage)).containsExactly(8, 4, 2, 2, 2, 1, 4);
        assertThat(usage.<Integer>at("$.limits.compose-lock.retryAfter"))
                .as("one remains, but not before five seconds have passed")
                .isEqualTo(5);
        assertThat(usage.<Integer>at("$.limits.reads.retryAfter")).isZero();
        assertThat(usage.<Integer>at("$.limits.reads.resetAfter")).isEqualTo(2);
        assertThat(usage.<String>at("$.limits.reads.reset"))
                .isEqualTo(clock.instant().plusSeconds(2).toString());
        assertThat(usage.<Integer>at("$.quota.day.used")).isEqualTo(6);
        assertThat(usage.<Integer>at("$.quota.day.remaining")).isEqualTo(994);
        assertThat(usage.<Integer>at("$.quota.month.used") - before).isEqualTo(6);
    }

    @Test
    @DisplayName("Asking costs nothing, and is answered when no read remains")
    void askingCostsNothing() {
        assertThat(Client.times(20, () -> sample.usage("alice"))).containsOnly(200);
        assertThat(sample.usage("alice").<Integer>at("$.quota.day.used")).isZero();

        assertThat(Client.times(11, () -> sample.read("alice"))).endsWith(200, 429);
        Answer usage = sample.usage("alice");
        assertThat(usage.status()).isEqualTo(200);
        assertThat(usage.<Integer>at("$.limits.reads.remaining")).isZero();
        assertThat(usage.<Integer>at("$.quota.day.used")).isEqualTo(10);
    }

    @Test
    @DisplayName("Asking has a limit of its own, by user")
    void askingIsLimited() {
        assertThat(Client.times(60, () -> sample.usage("alice"))).containsOnly(200);

        Answer denied = sample.usage("alice");
        assertThat(denied.status()).isEqualTo(429);
        assertThat(denied.body()).contains("\"violated-policies\":[\"usage\"]");
        assertThat(sample.usage("bob").status()).isEqualTo(200);
        assertThat(sample.read("alice").status()).isEqualTo(200);
    }

    @Test
    @DisplayName("Usage of a caller without a login is that of the address")
    void anonymousCallers() {
        sample.read(null);

        Answer usage = sample.usage(null);

        assertThat(usage.<String>at("$.caller")).isEqualTo("127.0.0.1");
        assertThat(usage.<String>at("$.tier")).isEqualTo("free");
        assertThat(usage.<Integer>at("$.limits.reads.remaining")).isEqualTo(9);
        assertThat(usage.<Integer>at("$.quota.day.used")).isEqualTo(1);
    }

    @Test
    @DisplayName("Usage shows the administrator that no limit applies")
    void administratorIsExempt() {
        Answer usage = sample.usage("admin");

        assertThat(usage.<Boolean>at("$.exempt")).isTrue();
        assertThat(usage.<Map<String, Object>>at("$.limits")).isEmpty();
    }

    @Test
    @DisplayName("An API key brings the numbers of its tier")
    void keysBringTheNumbersOfTheirTier() {
        Client premium = sample.with(keyOf("premium", "alice"));
        Client enterprise = sample.with(keyOf("enterprise", "bob"));

        assertThat(premium.usage(null).<String>at("$.tier")).isEqualTo("premium");
        assertThat(premium.usage(null).<Integer>at("$.quota.day.limit")).isEqualTo(10_000);
        assertThat(enterprise.usage(null).<String>at("$.tier")).isEqualTo("enterprise");
        assertThat(enterprise.usage(null).<Integer>at("$.quota.day.limit")).isEqualTo(100_000);

        assertThat(passedOf(25, sample)).isEqualTo(10);
        assertThat(passedOf(25, premium)).isEqualTo(20);
        assertThat(passedOf(105, enterprise)).isEqualTo(100);
    }

    private static long passedOf(int times, Client client) {
        return Client.times(times, () -> client.read(null)).stream()
                .filter(status -> status == 200)
                .count();
    }

    @Test
    @DisplayName("An API key counts for its owner, and does not log in")
    void keyCountsForItsOwner() {
        Client premium = sample.with(keyOf("premium", "alice"));
        Client.times(4, () -> premium.read(null));
        sample.read("alice");

        assertThat(premium.usage(null).<String>at("$.caller")).isEqualTo("alice");
        assertThat(premium.usage(null).<Integer>at("$.quota.day.used")).isEqualTo(5);
        assertThat(sample.usage("alice").<Integer>at("$.quota.day.used")).isEqualTo(5);
        assertThat(premium.post(null).status()).isEqualTo(401);
        assertThat(premium.post("alice").status()).isEqualTo(201);
    }

    @Test
    @DisplayName("An unknown API key is 401, even where nobody has to log in")
    void unknownKeyIsRefused() {
        Answer refused = sample.with("rl_nobody_knows").read(null);

        assertThat(refused.status()).isEqualTo(401);
        assertThat(refused.header("WWW-Authenticate")).isEqualTo("ApiKey header=\"X-API-Key\"");
        assertThat(sample.with("rl_nobody_knows").usage("alice").status()).isEqualTo(401);
        assertThat(sample.usage(null).<Integer>at("$.limits.reads.remaining")).isEqualTo(10);
    }
}
