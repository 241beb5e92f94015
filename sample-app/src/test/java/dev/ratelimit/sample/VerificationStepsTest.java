package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.sample.Client.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The five verification steps of the specification that the sample follows. */
class VerificationStepsTest extends RunningSample {

    @Test
    @DisplayName(
            "1. Basic rate limit test: of 65 GET requests in one minute the first 60 succeed, the last 5 return 429")
    void basicRateLimitTest() {
        List<Integer> statuses = new ArrayList<>();
        for (int i = 0; i < 65; i++) {
            statuses.add(sample.read("alice").status());
            pass(Duration.ofMillis(900));
        }

        assertThat(statuses.subList(0, 60)).containsOnly(200);
        assertThat(statuses.subList(60, 65)).containsOnly(429);
    }

    @Test
    @DisplayName("2. Burst test: of 15 requests at once 10 succeed; 5 seconds later 5 more succeed")
    void burstTest() {
        assertThat(Client.times(10, () -> sample.read("alice"))).containsOnly(200);
        assertThat(Client.times(5, () -> sample.read("alice"))).containsOnly(429);

        pass(Duration.ofSeconds(5));

        assertThat(Client.times(5, () -> sample.read("alice"))).containsOnly(200);
        assertThat(sample.read("alice").status()).isEqualTo(429);
    }

    @Test
    @DisplayName("2. Burst test, in parallel: of 15 requests at the same moment exactly 10 succeed")
    void burstTestInParallel() {
        List<Answer> answers = Client.together(Collections.nCopies(15, () -> sample.read("alice")));

        assertThat(Client.passed(answers)).isEqualTo(10);
    }

    @Test
    @DisplayName(
            "3. Compose lock interval test: a release right after the acquire is denied, 5 seconds later it succeeds")
    void composeLockIntervalTest() {
        assertThat(sample.acquireComposeLock("alice").status()).isEqualTo(200);

        Answer denied = sample.releaseComposeLock("alice");
        assertThat(denied.status()).isEqualTo(429);
        assertThat(denied.number("Retry-After")).isEqualTo(5);

        pass(Duration.ofSeconds(5));

        assertThat(sample.releaseComposeLock("alice").status()).isEqualTo(204);
    }

    @Test
    @DisplayName("4. Header test: the X-RateLimit headers are there and their values are right")
    void headerTest() {
        long now = clock.instant().getEpochSecond();

        Answer first = sample.read(null);
        Answer second = sample.read(null);

        assertThat(first.header("X-RateLimit-Limit")).isEqualTo("10");
        assertThat(first.header("X-RateLimit-Remaining")).isEqualTo("9");
        assertThat(first.number("X-RateLimit-Reset")).isEqualTo(now + 1);
        assertThat(first.header("RateLimit-Policy"))
                .startsWith("\"reads\";q=60;w=60, \"reads-burst\";q=10;w=10, \"quota:day\";q=1000;w=86400, ");
        assertThat(first.header("RateLimit")).isEqualTo("\"reads-burst\";r=9;t=1");
        assertThat(second.header("X-RateLimit-Remaining")).isEqualTo("8");
        assertThat(second.number("X-RateLimit-Reset")).isEqualTo(now + 2);
    }

    @Test
    @DisplayName("5. IP-based test: of six joins from one address the first five succeed, the sixth fails with 429")
    void ipBasedTest() {
        assertThat(Client.times(3, () -> sample.join("alice"))).containsOnly(200);
        assertThat(Client.times(2, () -> sample.join("bob"))).containsOnly(200);

        assertThat(sample.join(null).status()).isEqualTo(429);
    }
}
