package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** The sample with everything switched off, with nothing stored, and with limits on every path. */
@ExtendWith(OutputCaptureExtension.class)
class ModesTest {

    /** One request on any path, ever. */
    private static ConfigurableApplicationContext startWithOneRequest(String setting) {
        return start(
                setting,
                "--ratelimit.store.type=memory",
                "--ratelimit.limits.one.algorithm=fixed-window",
                "--ratelimit.limits.one.max-requests=1",
                "--ratelimit.limits.one.window=3660d",
                "--ratelimit.rules.all.path=/**",
                "--ratelimit.rules.all.key=ip",
                "--ratelimit.rules.all.limits=one");
    }

    private static ConfigurableApplicationContext start(String... settings) {
        String[] all = Arrays.copyOf(settings, settings.length + 1);
        all[settings.length] = "--server.port=0";
        return new SpringApplicationBuilder(SampleApplication.class).run(all);
    }

    private static Client client(ConfigurableApplicationContext application) {
        return new Client(application.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
    }

    @Test
    @DisplayName("With ratelimit.enabled=false nothing is limited")
    void switchedOff(CapturedOutput output) {
        try (ConfigurableApplicationContext application = start("--ratelimit.enabled=false")) {
            Client sample = client(application);
            assertThat(Client.times(20, () -> sample.read("alice"))).containsOnly(200);
            assertThat(Client.times(7, () -> sample.join(null))).containsOnly(200);
            assertThat(Client.times(7, () -> sample.login("alice", "wrong"))).containsOnly(401);
            assertThat(sample.login("alice", "alice").status()).isEqualTo(200);
            assertThat(sample.with("rl_nobody").read(null).status()).isEqualTo(200);
            assertThat(sample.read("alice").has("X-RateLimit-Limit")).isFalse();
            assertThat(sample.usage("alice").<Boolean>at("$.exempt")).isTrue();
            assertThat(output).contains("Rate limiting is off").doesNotContain("premium, of alice");
        }
    }

    @Test
    @DisplayName("With ratelimit.store.type=memory everything works, API keys included")
    void inMemory(CapturedOutput output) {
        try (ConfigurableApplicationContext application =
                start("--ratelimit.store.type=memory", "--ratelimit.limits.reads-burst.refill=1/1h")) {
            Client sample = client(application);
            assertThat(Client.times(11, () -> sample.read("alice"))).endsWith(200, 429);
            assertThat(Client.times(6, () -> sample.login("bob", "wrong"))).endsWith(401, 429);
            Matcher printed = Pattern.compile("premium, of alice +(\\S+)").matcher(output.getOut());
            assertThat(printed.find()).isTrue();
            Client premium = sample.with(printed.group(1));
            assertThat(premium.usage(null).<String>at("$.tier")).isEqualTo("premium");
            assertThat(sample.with("rl_nobody").read(null).status()).isEqualTo(401);
        }
    }

    @Test
    @DisplayName("Endpoints of the actuator are exempt, and paths that only look like them are not")
    void actuatorIsExempt() {
        try (ConfigurableApplicationContext application = startWithOneRequest("--ratelimit.exempt.actuator=true")) {
            Client sample = client(application);
            assertThat(Client.times(3, () -> sample.get("/actuator/health", null)))
                    .containsOnly(200);
            assertThat(Client.times(3, () -> sample.get("/actuator/prometheus", null)))
                    .containsOnly(200);
            assertThat(Client.times(3, () -> sample.get("/actuator/metrics", null)))
                    .as("not exposed, so it is no endpoint")
                    .containsExactly(401, 429, 429);
            assertThat(sample.get("/actuator/../api/campaigns", null).status()).isEqualTo(429);
            assertThat(sample.get("/actuator/health/..;/../api/campaigns", null).status())
                    .isEqualTo(429);
            assertThat(sample.get("/actuatorhealth", null).status()).isEqualTo(429);
        }
        try (ConfigurableApplicationContext application = startWithOneRequest("--ratelimit.exempt.actuator=false")) {
            Client sample = client(application);
            assertThat(Client.times(2, () -> sample.get("/actuator/health", null)))
                    .containsExactly(200, 429);
        }
        try (ConfigurableApplicationContext application = startWithOneRequest("--management.server.port=0")) {
            Client sample = client(application);
            Client management = new Client(
                    application.getEnvironment().getRequiredProperty("local.management.port", Integer.class));
            assertThat(Client.times(3, () -> management.get("/actuator/health", null)))
                    .containsOnly(200);
            assertThat(Client.times(2, () -> sample.get("/actuator/health", null)))
                    .as("no endpoint of this port")
                    .endsWith(429);
        }
    }
}
