package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;

/** Every change of the dashboard of one instance takes effect on another that shares its database. */
class TwoInstancesTest {

    private static final Map<String, String> LIMITS = Map.of(
            "ratelimit.limits.orders.algorithm", "fixed-window",
            "ratelimit.limits.orders.max-requests", "2",
            "ratelimit.limits.orders.window", "3660d",
            "ratelimit.rules.orders.path", "/api/orders/*",
            "ratelimit.rules.orders.key", "user",
            "ratelimit.rules.orders.limits", "orders");

    @Nested
    @DisplayName("On PostgreSQL")
    class OnPostgres extends Changes {

        @Override
        Map<String, String> store() {
            return Map.of(
                    "ratelimit.store.type", "postgresql",
                    "ratelimit.store.postgresql.url", TestPostgres.instance().jdbcUrl(),
                    "ratelimit.store.postgresql.username", "",
                    "ratelimit.store.postgresql.password", "",
                    "ratelimit.store.postgresql.schema", TestPostgres.instance().freshSchema());
        }
    }

    @Nested
    @DisplayName("On one SQLite file")
    class OnSqlite extends Changes {

        @TempDir
        static Path folder;

        @Override
        Map<String, String> store() {
            return Map.of(
                    "ratelimit.store.type",
                    "sqlite",
                    "ratelimit.store.sqlite.path",
                    folder.resolve("limits.db").toString());
        }
    }

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Changes {

        private ConfigurableApplicationContext one;
        private ConfigurableApplicationContext other;

        abstract Map<String, String> store();

        @BeforeAll
        void start() {
            Map<String, String> settings = new HashMap<>(LIMITS);
            settings.putAll(store());
            one = Shop.start(settings);
            other = Shop.start(settings);
        }

        @AfterAll
        void stop() {
            one.close();
            other.close();
        }

        private void change(String name, Map<String, Object> body) {
            Map<String, Object> whole = new HashMap<>(body);
            whole.put("reason", "the test");
            Http.Answer answer = Http.at(one).as("operator").write("/ratelimit/data/steer/" + name, whole);
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        }

        private int order(String user) {
            return Http.at(other).as(user).get("/api/orders/1").status();
        }

        /** No limit applies there. */
        private int search(String user) {
            return Http.at(other).as(user).get("/api/search/1").status();
        }

        private JsonNode seen(String path) {
            return Http.at(other).as("viewer").get("/ratelimit/data/" + path).json();
        }

        private static <T> void eventually(Supplier<T> actual, T expected) {
            await().atMost(Duration.ofSeconds(30))
                    .pollInterval(Duration.ofMillis(50))
                    .untilAsserted(() -> assertThat(actual.get()).isEqualTo(expected));
        }

        private String grants() {
            return seen("limit?name=orders").path("limit").path("sentence").asString();
        }

        @Test
        @DisplayName("A limit is set, rolled back and returned to the configuration")
        void limit() {
            String configured = grants();
            change("set-limit", Map.of("limit", "orders", "properties", Map.of("max-requests", "30"), "for", "1h"));
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(grants()).contains("30"));
            JsonNode version = seen("limit?name=orders").path("history").get(0);
            assertThat(version.path("change").path("by").asString()).isEqualTo("operator");
            assertThat(version.path("change").path("reason").asString()).isEqualTo("the test");
            assertThat(version.path("change").path("until").asString()).isNotEmpty();
            int first = version.path("version").asInt();

            change("remove-limit", Map.of("limit", "orders"));
            eventually(this::grants, configured);

            change("roll-back-limit", Map.of("limit", "orders", "version", first));
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(grants()).contains("30"));
            change("remove-limit", Map.of("limit", "orders"));
            eventually(this::grants, configured);
        }

        @Test
        @DisplayName("A limit, a rule and everything are switched off and on")
        void switches() {
            order("sam");
            order("sam");
            eventually(() -> order("sam"), 429);

            change("switch-limit", Map.of("limit", "orders", "on", false));
            eventually(() -> order("sam"), 200);
            change("switch-limit", Map.of("limit", "orders", "on", true));
            eventually(() -> order("sam"), 429);

            change("switch-rule", Map.of("rule", "orders", "on", false));
            eventually(() -> order("sam"), 200);
            change("switch-rule", Map.of("rule", "orders", "on", true));
            eventually(() -> order("sam"), 429);

            change("switch-all", Map.of("on", false, "for", "15m"));
            eventually(() -> order("sam"), 200);
            change("switch-all", Map.of("on", true));
            eventually(() -> order("sam"), 429);
        }

        @Test
        @DisplayName("A rule is rolled back")
        void rule() {
            order("pia");
            order("pia");
            eventually(() -> order("pia"), 429);
            change("switch-rule", Map.of("rule", "orders", "on", false));
            change("switch-rule", Map.of("rule", "orders", "on", true));
            eventually(() -> order("pia"), 429);
            JsonNode history = seen("rule?name=orders").path("history");
            int on = history.get(0).path("version").asInt();
            int off = history.get(1).path("version").asInt();

            change("roll-back-rule", Map.of("rule", "orders", "version", off));
            eventually(() -> order("pia"), 200);
            change("roll-back-rule", Map.of("rule", "orders", "version", on));
            eventually(() -> order("pia"), 429);
            assertThat(seen("rule?name=orders")
                            .path("history")
                            .get(0)
                            .path("change")
                            .path("reason")
                            .asString())
                    .isEqualTo("the test");
        }

        @Test
        @DisplayName("A user and an address are blocked and unblocked")
        void blocks() {
            change("block", Map.of("subject", "user:ben", "for", "1h"));
            eventually(() -> search("ben"), 403);
            change("unblock", Map.of("subject", "user:ben"));
            eventually(() -> search("ben"), 200);

            change("block", Map.of("subject", "ip:127.0.0.1"));
            eventually(() -> search("mia"), 403);
            assertThat(seen("subject?text=ip:127.0.0.1")
                            .path("block")
                            .path("reason")
                            .asString())
                    .isEqualTo("the test");
            change("unblock", Map.of("subject", "ip:127.0.0.1"));
            eventually(() -> search("mia"), 200);
        }

        @Test
        @DisplayName("A subject is reset, on one limit and on all")
        void resets() {
            for (Map<String, Object> body : List.<Map<String, Object>>of(
                    Map.of("subject", "user:eve", "limit", "orders"), Map.of("subject", "user:eve"))) {
                order("eve");
                order("eve");
                eventually(() -> order("eve"), 429);
                change("reset", body);
                eventually(() -> order("eve"), 200);
                change("reset", body);
            }
        }

        @Test
        @DisplayName("The changes are listed with their author and reason")
        void changes() {
            change("block", Map.of("subject", "user:liz", "for", "1h"));

            JsonNode newest = seen("changes").path("changes").get(0);
            assertThat(newest.path("kind").asString()).isEqualTo("user");
            assertThat(newest.path("name").asString()).isEqualTo("liz");
            assertThat(newest.path("change").path("by").asString()).isEqualTo("operator");
            assertThat(newest.path("change").path("reason").asString()).isEqualTo("the test");
        }
    }
}
