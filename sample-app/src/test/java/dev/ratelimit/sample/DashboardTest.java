package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The dashboard in the sample. The module ratelimit-dashboard tests the rest of it. */
class DashboardTest extends RunningSample {

    @Test
    @DisplayName("The operator and the viewer open the dashboard; players, the administrator and strangers do not")
    void access() {
        assertThat(sample.get("/ratelimit/", "operator").status()).isEqualTo(200);
        assertThat(sample.get("/ratelimit/", "viewer").status()).isEqualTo(200);
        assertThat(sample.get("/ratelimit/", "alice").status()).isEqualTo(403);
        assertThat(sample.get("/ratelimit/", "admin").status()).isEqualTo(403);
        assertThat(sample.get("/ratelimit/", null).status()).isEqualTo(401);
    }

    @Test
    @DisplayName("The dashboard has a policy of its own, and shows the limits of the sample")
    void data() {
        assertThat(sample.get("/ratelimit/", "operator").header("Content-Security-Policy"))
                .contains("form-action 'self'");
        assertThat(sample.get("/ratelimit/data/limits", "operator").body()).contains("reads-burst", "compose-lock");
        assertThat(sample.get("/ratelimit/data/session", "viewer").<Boolean>at("$.maySteer"))
                .isFalse();
    }
}
