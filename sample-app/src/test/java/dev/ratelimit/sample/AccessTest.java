package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.RateLimitRules;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;

/** Permissions, and callers without limits. */
class AccessTest extends RunningSample {

    @Test
    @DisplayName("Reads need no login, writes do")
    void readsNeedNoLoginWritesDo() {
        assertThat(sample.read(null).status()).isEqualTo(200);
        assertThat(sample.post(null).status()).isEqualTo(401);
        assertThat(sample.edit(null).status()).isEqualTo(401);
        assertThat(sample.turn(null).status()).isEqualTo(401);
        assertThat(sample.createCampaign(null).status()).isEqualTo(401);
        assertThat(sample.uploadAvatar(null).status()).isEqualTo(401);
        assertThat(sample.acquireComposeLock(null).status()).isEqualTo(401);
    }

    @Test
    @DisplayName("Every endpoint has a limit")
    void everyEndpointHasALimit(@Autowired ApplicationContext context) {
        RateLimitRules.verifyEveryEndpointIsLimited(context);
    }

    @Test
    @DisplayName("HEAD is a read like GET")
    void headIsARead() {
        assertThat(sample.head("/api/campaigns", null).header("X-RateLimit-Remaining"))
                .isEqualTo("9");
        assertThat(sample.read(null).header("X-RateLimit-Remaining")).isEqualTo("8");
    }

    @Test
    @DisplayName("A path that does not exist is 404, for anyone")
    void missingPathsAreNotFound() {
        assertThat(sample.get("/api/campaigns/999", null).status()).isEqualTo(404);
        assertThat(sample.get("/api/nothing", null).status()).isEqualTo(404);
        assertThat(sample.delete(999, "alice").status()).isEqualTo(404);
    }

    @Test
    @DisplayName("admin is exempt everywhere")
    void administratorIsExempt() {
        assertThat(Client.times(15, () -> sample.read("admin"))).containsOnly(200);
        assertThat(Client.times(7, () -> sample.edit("admin"))).containsOnly(200);
        assertThat(Client.times(4, () -> sample.createCampaign("admin"))).containsOnly(201);
        assertThat(Client.times(7, () -> sample.join("admin"))).containsOnly(200);
        assertThat(Client.times(4, () -> sample.acquireComposeLock("admin")))
                .as("somebody else may be writing")
                .doesNotContain(429);
        sample.releaseComposeLock("admin");
        assertThat(Client.times(5, () -> sample.join(null)))
                .as("the address has all its own")
                .containsOnly(200);
        assertThat(sample.read("admin").has("X-RateLimit-Limit")).isFalse();
    }

    @Test
    @DisplayName(
            "Operators see in the health that the store is available, others only the status; a probe needs no login")
    void healthForOperators() {
        assertThat(sample.get("/actuator/health", "viewer").body()).contains("\"ratelimit\"", "\"circuit\":\"closed\"");
        assertThat(sample.get("/actuator/health", "operator").body()).contains("\"ratelimit\"");
        assertThat(sample.get("/actuator/health", "alice").body())
                .contains("UP")
                .doesNotContain("ratelimit", "circuit");
        assertThat(sample.get("/actuator/health", null).body()).doesNotContain("ratelimit", "circuit");
        assertThat(sample.get("/actuator/health/ratelimit", null).body()).doesNotContain("circuit");
        assertThat(sample.get("/actuator/health/readiness", null).status()).isEqualTo(200);
        assertThat(sample.get("/actuator/health/liveness", null).status()).isEqualTo(200);
    }

    @Test
    @DisplayName("A post that was written can be read, edited and deleted")
    void postsCanBeWrittenAndDeleted() {
        String written = sample.post("bob").body();
        long id = Long.parseLong(written.replaceAll(".*\"id\":(\\d+).*", "$1"));
        assertThat(sample.get("/api/posts/" + id, null).body()).isEqualTo(written);
        assertThat(sample.delete(id, "bob").status()).isEqualTo(204);
        assertThat(sample.get("/api/posts/" + id, null).status()).isEqualTo(404);
    }

    @Test
    @DisplayName("Mutations are counted together, whichever endpoint they come in by")
    void mutationsAreCountedTogether() {
        assertThat(Client.times(3, () -> sample.post("alice"))).containsOnly(201);
        assertThat(Client.times(2, () -> sample.edit("alice"))).containsOnly(200);

        assertThat(sample.delete(1, "alice").status()).isEqualTo(429);
    }
}
