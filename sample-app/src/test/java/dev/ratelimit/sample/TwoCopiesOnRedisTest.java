package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.sample.Client.Answer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import redis.embedded.RedisServer;

/** Two copies of the sample with the profile {@code redis} on one server, by its clock. */
class TwoCopiesOnRedisTest {

    @TempDir
    static Path folder;

    private static RedisServer redis;
    private static int port;
    private static ConfigurableApplicationContext one;
    private static ConfigurableApplicationContext other;

    @BeforeAll
    static void start() throws IOException {
        port = freePort();
        redis = RedisServer.newRedisServer().port(port).setting("save \"\"").build();
        redis.start();
        one = copy();
        other = copy();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static ConfigurableApplicationContext copy() {
        return SpringApplication.run(
                SampleApplication.class,
                "--spring.profiles.active=redis",
                "--server.port=0",
                "--ratelimit.store.deadline=10s",
                "--ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                "--RATELIMIT_REDIS_URL=redis://localhost:" + port);
    }

    @AfterAll
    static void stop() throws IOException {
        if (other != null) {
            other.close();
        }
        if (one != null) {
            one.close();
        }
        redis.stop();
    }

    private static Client client(ConfigurableApplicationContext copy) {
        return new Client(Integer.parseInt(copy.getEnvironment().getProperty("local.server.port")));
    }

    @Test
    @DisplayName("Two copies on one Redis admit together exactly the five joins that one would")
    void joins() {
        List<Supplier<Answer>> requests = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            requests.add(() -> client(one).join("alice"));
            requests.add(() -> client(other).join("alice"));
        }
        assertThat(Client.passed(Client.together(requests))).isEqualTo(5);
        assertThat(client(one).join("alice").status()).isEqualTo(429);
        assertThat(client(other).join("alice").status()).isEqualTo(429);
    }

    @Test
    @DisplayName("With the profile redis, operators see Redis, and API keys stay in the file")
    void store() {
        assertThat(one.getBean(Operations.class).status().store().name()).isEqualTo("Redis at localhost:" + port);
        assertThat(one.getBean(RateLimitAdmin.class).keys().list()).hasSize(4);
        assertThat(folder.resolve("ratelimit.db")).exists();
    }
}
