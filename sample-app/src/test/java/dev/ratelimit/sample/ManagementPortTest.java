package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The sample with its actuator on a port of its own, where only the filters of Spring Security run. */
class ManagementPortTest {

    @TempDir
    private Path folder;

    private ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(SampleApplication.class)
                .run(
                        "--server.port=0",
                        "--management.server.port=0",
                        "--management.endpoints.web.exposure.include=*",
                        "--ratelimit.store.deadline=10s",
                        "--ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"));
    }

    private static Client on(ConfigurableApplicationContext application, String port) {
        return new Client(application.getEnvironment().getRequiredProperty(port, Integer.class));
    }

    @Test
    @DisplayName("Correct credentials open endpoints on the management port, and guesses are denied there, too")
    void loginsOnTheManagementPort() {
        try (ConfigurableApplicationContext application = start()) {
            Client management = on(application, "local.management.port");
            assertThat(management.get("/actuator/metrics", null).status()).isEqualTo(401);
            assertThat(management.get("/actuator/metrics", "alice").status()).isEqualTo(200);
            assertThat(Client.times(5, () -> management.getWith("/actuator/metrics", "alice", "wrong")))
                    .containsOnly(401);

            Client.Answer denied = management.getWith("/actuator/metrics", "alice", "wrong");
            assertThat(denied.status()).isEqualTo(429);
            assertThat(denied.header("Content-Type")).isEqualTo("application/problem+json");
            assertThat(denied.number("Retry-After")).isEqualTo(300);
            assertThat(management.get("/actuator/metrics", "alice").status()).isEqualTo(429);
            assertThat(on(application, "local.server.port")
                            .login("alice", "alice")
                            .status())
                    .as("it is the same count")
                    .isEqualTo(429);
            assertThat(management.get("/actuator/metrics", "bob").status()).isEqualTo(200);
        }
    }
}
