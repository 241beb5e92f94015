package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.sample.Client.Answer;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The boxes of the testing checklist of the specification that the sample follows; {@link CleanupTest} has the sixteenth. */
class TestingChecklistTest extends RunningSample {

    /** Tries twice a second for a minute, and says how many passed. */
    private long passedInAMinute(Supplier<Answer> request) {
        long passed = 0;
        for (int i = 0; i < 120; i++) {
            passed += request.get().status() < 300 ? 1 : 0;
            pass(Duration.ofMillis(500));
        }
        return passed;
    }

    @Test
    @DisplayName("General GET requests limited to 60/min")
    void generalGetRequestsLimitedTo60PerMinute() {
        assertThat(passedInAMinute(() -> sample.read("alice"))).isEqualTo(60);
    }

    @Test
    @DisplayName("Mutations limited to 30/min")
    void mutationsLimitedTo30PerMinute() {
        assertThat(passedInAMinute(() -> sample.edit("alice"))).isEqualTo(30);
    }

    @Test
    @DisplayName("Turn submission limited to 10/min")
    void turnSubmissionLimitedTo10PerMinute() {
        assertThat(passedInAMinute(() -> sample.turn("alice"))).isEqualTo(10);
    }

    @Test
    @DisplayName("Scene/campaign creation limited to 5/min")
    void sceneAndCampaignCreationLimitedTo5PerMinute() {
        boolean[] scene = {false};
        assertThat(passedInAMinute(() -> {
                    scene[0] = !scene[0];
                    return scene[0] ? sample.createScene("alice") : sample.createCampaign("alice");
                }))
                .isEqualTo(5);
    }

    @Test
    @DisplayName("Image uploads limited to 5/min")
    void imageUploadsLimitedTo5PerMinute() {
        boolean[] header = {false};
        assertThat(passedInAMinute(() -> {
                    header[0] = !header[0];
                    return header[0] ? sample.uploadSceneHeader("alice") : sample.uploadAvatar("alice");
                }))
                .isEqualTo(5);
    }

    @Test
    @DisplayName("Compose lock limited to 12/min with 5s interval")
    void composeLockLimitedTo12PerMinuteWith5sInterval() {
        assertThat(passedInAMinute(() -> sample.acquireComposeLock("alice"))).isEqualTo(12);
    }

    @Test
    @DisplayName("Campaign join limited to 5 per 15min (IP)")
    void campaignJoinLimitedTo5Per15MinutesByAddress() {
        assertThat(Client.times(5, () -> sample.join("alice"))).containsOnly(200);

        pass(Duration.ofMinutes(15).minusMillis(1));
        assertThat(sample.join("bob").status()).isEqualTo(429);

        pass(Duration.ofMillis(1));
        assertThat(Client.times(5, () -> sample.join("bob"))).containsOnly(200);
        assertThat(sample.join(null).status()).isEqualTo(429);
    }

    @Test
    @DisplayName("Rate limit headers present in response")
    void rateLimitHeadersPresentInResponse() {
        for (Answer answer : List.of(
                sample.read("alice"),
                sample.post("alice"),
                sample.turn("alice"),
                sample.createCampaign("alice"),
                sample.uploadAvatar("alice"),
                sample.acquireComposeLock("alice"),
                sample.join("alice"))) {
            assertThat(answer.status()).isBetween(200, 201);
            assertThat(answer.number("X-RateLimit-Limit")).isPositive();
            assertThat(answer.number("X-RateLimit-Remaining")).isNotNegative();
            assertThat(answer.number("X-RateLimit-Reset"))
                    .isGreaterThan(clock.instant().getEpochSecond());
            assertThat(answer.has("RateLimit")).isTrue();
            assertThat(answer.has("RateLimit-Policy")).isTrue();
            assertThat(answer.has("Retry-After")).isFalse();
        }
    }

    @Test
    @DisplayName("429 response when limit exceeded")
    void answers429WhenLimitExceeded() {
        assertThat(Client.times(3, () -> sample.turn("alice"))).containsOnly(201);

        Answer denied = sample.turn("alice");

        assertThat(denied.status()).isEqualTo(429);
        assertThat(denied.header("Content-Type")).startsWith("application/problem+json");
        assertThat(denied.header("X-RateLimit-Remaining")).isEqualTo("0");
        assertThat(denied.body())
                .contains("\"violated-policies\":[\"turns-burst\"]", "\"retry_after\":6", "Try again in 6 seconds.");
    }

    @Test
    @DisplayName("Retry-After header present on 429")
    void retryAfterHeaderPresentOn429() {
        assertThat(Client.times(2, () -> sample.createCampaign("alice"))).containsOnly(201);

        Answer denied = sample.createCampaign("alice");

        assertThat(denied.status()).isEqualTo(429);
        assertThat(denied.number("Retry-After")).isEqualTo(12);
        pass(Duration.ofSeconds(12).minusMillis(1));
        assertThat(sample.createCampaign("alice").number("Retry-After")).isEqualTo(1);
        pass(Duration.ofMillis(1));
        assertThat(sample.createCampaign("alice").status()).isEqualTo(201);
    }

    @Test
    @DisplayName("Token bucket refills correctly")
    void tokenBucketRefillsCorrectly() {
        assertThat(Client.times(10, () -> sample.read("alice"))).containsOnly(200);
        assertThat(sample.read("alice").status()).isEqualTo(429);

        pass(Duration.ofSeconds(1));
        assertThat(Client.times(2, () -> sample.read("alice"))).containsExactly(200, 429);

        pass(Duration.ofMillis(500));
        assertThat(sample.read("alice").status()).isEqualTo(429);
        pass(Duration.ofMillis(500));
        assertThat(Client.times(2, () -> sample.read("alice"))).containsExactly(200, 429);

        pass(Duration.ofMinutes(10));
        assertThat(sample.read("alice").number("X-RateLimit-Remaining"))
                .as("a bucket never holds more than its burst")
                .isEqualTo(9);
    }

    @Test
    @DisplayName("Burst capacity works")
    void burstCapacityWorks() {
        assertThat(Client.times(11, () -> sample.read("alice")))
                .endsWith(200, 429)
                .filteredOn(s -> s == 200)
                .hasSize(10);
        assertThat(Client.times(6, () -> sample.edit("alice")))
                .endsWith(200, 429)
                .filteredOn(s -> s == 200)
                .hasSize(5);
        assertThat(Client.times(4, () -> sample.turn("alice"))).containsExactly(201, 201, 201, 429);
        assertThat(Client.times(3, () -> sample.createCampaign("alice"))).containsExactly(201, 201, 429);
        assertThat(Client.times(3, () -> sample.uploadAvatar("alice"))).containsExactly(201, 201, 429);
        assertThat(sample.read("bob").status()).as("bob has his own").isEqualTo(200);
    }

    @Test
    @DisplayName("Client-side displays rate limit warnings")
    void clientSideDisplaysRateLimitWarnings() {
        clock.run();
        try (Browser page = Browser.open(sample.base())) {
            page.press("campaigns");
            assertThat(page.text("status")).isEqualTo("200 OK");
            assertThat(page.isShown("warning")).as("nine remain").isFalse();

            page.choose("user", "alice");
            page.press("turn");
            assertThat(page.text("status")).isEqualTo("201 Created");
            assertThat(page.isShown("warning")).as("two remain").isTrue();
            assertThat(page.text("warning"))
                    .contains("Rate limit warning", "2 requests remain.", "The limit resets in");
        }
    }

    @Test
    @DisplayName("Compose lock enforces 5s interval")
    void composeLockEnforces5sInterval() {
        assertThat(sample.acquireComposeLock("alice").status()).isEqualTo(200);

        pass(Duration.ofSeconds(5).minusMillis(1));
        assertThat(sample.releaseComposeLock("alice").status()).isEqualTo(429);
        assertThat(sample.acquireComposeLock("alice").status()).isEqualTo(429);
        assertThat(sample.acquireComposeLock("bob").status())
                .as("counted by user, but taken")
                .isEqualTo(409);

        pass(Duration.ofMillis(1));
        assertThat(sample.releaseComposeLock("alice").status()).isEqualTo(204);
        assertThat(sample.acquireComposeLock("alice").status()).isEqualTo(429);
    }

    @Test
    @DisplayName("Anonymous users rate limited by IP")
    void anonymousUsersRateLimitedByAddress() {
        assertThat(Client.times(10, () -> sample.read(null))).containsOnly(200);
        assertThat(sample.read(null).status()).isEqualTo(429);
        assertThat(sample.read("alice").status()).isEqualTo(200);
    }
}
