package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.admin.ApiKeyInfo;
import dev.ratelimit.admin.RateLimitAdmin;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** The two API keys that the sample prints when it starts. */
@ExtendWith(OutputCaptureExtension.class)
class DemoKeysTest {

    private static final Pattern PRINTED =
            Pattern.compile("premium, of alice +(\\S+)\\s+enterprise, of bob +(\\S+)\\s+(curl .+)");

    @TempDir
    Path folder;

    /** A copy of the sample that has started, and what it has printed. */
    private record Started(
            ConfigurableApplicationContext context, int port, String premium, String enterprise, String curl)
            implements AutoCloseable {

        Client client() {
            return new Client(port);
        }

        List<ApiKeyInfo> activeKeys() {
            Instant now = Instant.now();
            return context.getBean(RateLimitAdmin.class).keys().list().stream()
                    .filter(key -> key.isActive(now))
                    .toList();
        }

        @Override
        public void close() {
            context.close();
        }
    }

    private Started start(int port, CapturedOutput output) {
        int before = output.getOut().length();
        ConfigurableApplicationContext context = SpringApplication.run(
                SampleApplication.class,
                "--server.port=" + port,
                "--ratelimit.store.deadline=10s",
                "--ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"));
        String printed = output.getOut().substring(before);
        Matcher keys = PRINTED.matcher(printed);
        assertThat(keys.find()).as(printed).isTrue();
        return new Started(
                context,
                Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port")),
                keys.group(1),
                keys.group(2),
                keys.group(3));
    }

    @Test
    @DisplayName("Both keys are printed at start, with a line to try, and bring their tiers")
    void keysArePrintedAndWork(CapturedOutput output) {
        try (Started sample = start(0, output)) {
            assertThat(sample.curl)
                    .isEqualTo("curl -H 'X-API-Key: " + sample.premium + "' http://localhost:" + sample.port
                            + "/api/usage");
            Client.Answer premium = sample.client().with(sample.premium).usage(null);
            assertThat(premium.<String>at("$.caller")).isEqualTo("alice");
            assertThat(premium.<String>at("$.tier")).isEqualTo("premium");
            Client.Answer enterprise = sample.client().with(sample.enterprise).usage(null);
            assertThat(enterprise.<String>at("$.caller")).isEqualTo("bob");
            assertThat(enterprise.<String>at("$.tier")).isEqualTo("enterprise");
            assertThat(sample.activeKeys())
                    .allSatisfy(key -> assertThat(key.expiresAt()).isAfter(Instant.now()));
            assertThat(output.getAll()).containsOnlyOnce(sample.enterprise);
        }
    }

    @Test
    @DisplayName("A restart replaces the keys of this instance, so that they do not pile up")
    void restartReplacesTheKeys(CapturedOutput output) {
        Started before = start(0, output);
        before.close();

        try (Started sample = start(before.port, output)) {
            assertThat(sample.client().with(before.premium).read(null).status()).isEqualTo(401);
            assertThat(sample.client().with(before.enterprise).read(null).status())
                    .isEqualTo(401);
            assertThat(sample.client().with(sample.premium).read(null).status()).isEqualTo(200);
            assertThat(sample.activeKeys()).hasSize(2);
        }
    }

    @Test
    @DisplayName("An instance leaves the keys of another alone, and knows them")
    void instancesLeaveEachOthersKeysAlone(CapturedOutput output) {
        try (Started one = start(0, output);
                Started other = start(0, output)) {
            assertThat(one.client().with(one.premium).read(null).status()).isEqualTo(200);
            assertThat(other.client().with(one.premium).read(null).status()).isEqualTo(200);
            await().pollInterval(Duration.ofSeconds(1)) // an unknown key is a guess, and guesses are limited
                    .atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(one.client()
                                    .with(other.enterprise)
                                    .read(null)
                                    .status())
                            .isEqualTo(200));
            assertThat(one.activeKeys()).hasSize(4);
        }
    }
}
