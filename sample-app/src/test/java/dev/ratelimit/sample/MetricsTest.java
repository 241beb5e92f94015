package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The meters that Prometheus reads. */
class MetricsTest extends RunningSample {

    @Test
    @DisplayName("/actuator/prometheus shows what was decided, and never a user")
    void prometheusShowsDecisionsAndNeverAUser() {
        Client.times(3, () -> sample.createCampaign("alice"));
        Client.times(6, () -> sample.login("alice", "wrong"));

        Client.Answer answer = sample.get("/actuator/prometheus", null);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body())
                .contains("ratelimit_requests_total{limit=\"creation\",outcome=\"allowed\",rule=\"campaigns\"}")
                .contains("ratelimit_requests_total{limit=\"creation-burst\",outcome=\"throttled\",rule=\"campaigns\"}")
                .contains("ratelimit_violations_total{limit=\"creation-burst\"}")
                .contains("ratelimit_penalties_total{limit=\"login\"}")
                .contains("ratelimit_decision_seconds_count")
                .doesNotContainIgnoringCase("alice")
                .doesNotContain("127.0.0.1");
        assertThat(sample.get("/actuator/health", null).status()).isEqualTo(200);
    }
}
