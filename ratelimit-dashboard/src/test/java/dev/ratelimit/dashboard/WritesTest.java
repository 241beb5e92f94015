package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;

/** Which writes are refused. The application has switched the CSRF protection of Spring Security off. */
class WritesTest {

    private static final String SET = "/ratelimit/data/steer/set-limit";
    private static final Map<String, Object> RAISE =
            Map.of("limit", "api", "properties", Map.of("max-requests", "7"), "reason", "the test");

    @TempDir
    static Path folder;

    private static ConfigurableApplicationContext shop;

    @BeforeAll
    static void start() {
        shop = Shop.start(Map.of(
                "ratelimit.store.type", "sqlite",
                "ratelimit.store.sqlite.path", folder.resolve("limits.db").toString(),
                "ratelimit.limits.api.algorithm", "fixed-window",
                "ratelimit.limits.api.max-requests", "5",
                "ratelimit.limits.api.window", "1m"));
    }

    @AfterAll
    static void stop() {
        shop.close();
    }

    private static Http operator() {
        return Http.at(shop).as("operator");
    }

    private static String grants() {
        return operator()
                .get("/ratelimit/data/limit?name=api")
                .json()
                .path("limit")
                .path("sentence")
                .asString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "set-limit",
                "switch-limit",
                "remove-limit",
                "roll-back-limit",
                "switch-rule",
                "roll-back-rule",
                "switch-all",
                "block",
                "unblock",
                "reset",
                "anything"
            })
    @DisplayName("A viewer may make no change")
    void viewers(String change) {
        String path = "/ratelimit/data/steer/" + change;

        Http.Answer viewer = Http.at(shop).as("viewer").write(path, RAISE);
        assertThat(viewer.status()).isEqualTo(403);
        assertThat(viewer.json().get("detail").asString()).isEqualTo("You may look, but not change anything.");
    }

    @Test
    @DisplayName("Customers and strangers may neither look nor make a change")
    void others() {
        assertThat(Http.at(shop).as("customer").write(SET, RAISE).status()).isEqualTo(403);
        assertThat(Http.at(shop).write(SET, RAISE).status()).isEqualTo(401);
    }

    @Test
    @DisplayName("A write that another site made the browser send is refused")
    void forgeries() {
        String before = grants();

        for (Map<String, String> forged : new Map[] {
            Map.of(Forgeries.HEADER, ""),
            Map.of("Cookie", ""),
            Map.of(Forgeries.HEADER, "x".repeat(32)),
            Map.of(Forgeries.HEADER, "", "Cookie", Forgeries.COOKIE + "="),
            Map.of(Forgeries.HEADER, "x", "Cookie", Forgeries.COOKIE + "=x"),
            Map.of("Sec-Fetch-Site", "cross-site"),
            Map.of("Sec-Fetch-Site", "same-site"),
            Map.of("Sec-Fetch-Site", "none"),
        }) {
            assertThat(operator().write(SET, RAISE, forged).status())
                    .as(forged.toString())
                    .isEqualTo(403);
        }
        assertThat(operator()
                        .write(SET, RAISE, Map.of("Content-Type", "text/plain"))
                        .status())
                .isEqualTo(415);
        assertThat(grants()).isEqualTo(before);
        assertThat(operator().write(SET, RAISE, Map.of("Sec-Fetch-Site", "")).status())
                .as("a browser that does not say")
                .isEqualTo(200);
    }

    @Test
    @DisplayName("The cookie of the token is out of reach of scripts and other sites")
    void cookie() {
        assertThat(operator().get("/ratelimit/data/session").header("Set-Cookie"))
                .startsWith(Forgeries.COOKIE + "=")
                .endsWith("; HttpOnly; SameSite=Strict");
    }

    @Test
    @DisplayName("A write without a reason is refused")
    void reason() {
        Http.Answer answer = operator().write(SET, Map.of("limit", "api", "properties", Map.of("max-requests", "7")));

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().get("field").asString()).isEqualTo("reason");
    }

    @Test
    @DisplayName("An invalid value names its field and the remedy")
    void invalidValue() {
        Http.Answer answer = operator()
                .write(
                        SET,
                        Map.of(
                                "limit", "api",
                                "properties", Map.of("max-requests", "many"),
                                "reason", "the test"));

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().get("field").asString()).isEqualTo("max-requests");
        assertThat(answer.json().get("detail").asString()).isNotEmpty();
    }

    @Test
    @DisplayName("A field that is unknown is refused, so that a misspelled end makes no change permanent")
    void unknownField() {
        for (Map<String, ?> body : List.of(
                Map.of("limit", "api", "properties", Map.of("max-requests", "7"), "reason", "x", "duration", "1h"),
                Map.of("limit", "api", "properties", Map.of("max-requests", "7"), "reason", "x", "on", true))) {
            Http.Answer answer = operator().write(SET, body);
            assertThat(answer.status()).isEqualTo(422);
            assertThat(answer.json().get("detail").asString())
                    .contains("is unknown here; write for, limit, properties");
        }
        assertThat(operator()
                        .write("/ratelimit/data/explain", Map.of("pth", "/"))
                        .status())
                .isEqualTo(422);
    }

    @Test
    @DisplayName("A change of a limit that somebody else has changed meanwhile is refused")
    void changedMeanwhile() {
        Map<String, ?> body =
                Map.of("limit", "api", "properties", Map.of("max-requests", "7"), "version", 4711, "reason", "x");
        Http.Answer answer = operator().write(SET, body);
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().get("detail").asString()).contains("was changed meanwhile");
    }

    @Test
    @DisplayName("A form with files is refused before anybody parses it")
    void multipart() {
        assertThat(operator()
                        .write(SET, "no parts", Map.of("Content-Type", "multipart/form-data"))
                        .status())
                .isEqualTo(415);
    }

    @Test
    @DisplayName("Blocks are listed")
    void blocks() {
        String steer = "/ratelimit/data/steer/";
        operator().write(steer + "block", Map.of("subject", "user:%E2%80%AEmallory", "reason", "a test"));
        assertThat(operator().get("/ratelimit/data/blocks").json().path("blocks"))
                .anySatisfy(block -> {
                    assertThat(block.path("subject").asString()).isEqualTo("user:%E2%80%AEmallory");
                    assertThat(block.path("reason").asString()).isEqualTo("a test");
                    assertThat(block.path("by").asString()).isEqualTo("operator");
                    assertThat(block.path("until").isNull()).isTrue();
                });
        assertThat(operator()
                        .write(steer + "unblock", Map.of("subject", "user:%E2%80%AEmallory", "reason", "over"))
                        .status())
                .isEqualTo(200);
    }

    @Test
    @DisplayName("Bodies that are no JSON object, too long or of wrong types are refused")
    void bodies() {
        assertThat(operator().write(SET, "[]").status()).isEqualTo(400);
        assertThat(operator().write(SET, "{").status()).isEqualTo(400);
        assertThat(operator().write(SET, "\"" + "x".repeat(70_000) + "\"").status())
                .isEqualTo(413);
        assertThat(operator()
                        .write("/ratelimit/data/steer/switch-all", Map.of("on", "no", "reason", "x"))
                        .status())
                .isEqualTo(422);
        assertThat(operator()
                        .write("/ratelimit/data/steer/block", Map.of("subject", 7, "reason", "x"))
                        .status())
                .isEqualTo(422);
    }

    @Test
    @DisplayName("A name that is searched leads to its subject, also with a plus sign")
    void searchedName() {
        Map<String, String> meant = Map.of(
                "alice%2Btest@example.com", "user:alice%2Btest@example.com",
                "user:alice%2Btest@example.com", "user:alice%2Btest@example.com",
                "user:alice%2Bip:192.0.2.1", "user:alice+ip:192.0.2.1",
                "user:a%252Bb", "user:a%2Bb",
                "192.0.2.1", "ip:192.0.2.1",
                "2001:db8::1", "ip:2001:db8:0:0:0:0:0:0/64",
                "ip:2001:db8::1", "ip:2001:db8:0:0:0:0:0:0/64",
                "4711", "user:4711");
        meant.forEach((written, subject) -> assertThat(operator()
                        .get("/ratelimit/data/subjects?prefix=" + written)
                        .json()
                        .path("exact")
                        .asString())
                .as(written)
                .isEqualTo(subject));
    }

    @Test
    @DisplayName("With the protection of Spring Security on, the page sends its token, too")
    void withSpringCsrf() {
        try (ConfigurableApplicationContext on = Shop.start(Map.of("shop.csrf", "true"))) {
            Http operator = Http.at(on).as("operator");
            Http.Answer explained = operator.write("/ratelimit/data/explain", Map.of("path", "/api/orders/1"));
            assertThat(explained.status()).as(explained.body()).isEqualTo(200);
            assertThat(operator.write(
                                    "/ratelimit/data/explain",
                                    Map.of("path", "/api/orders/1"),
                                    Map.of("X-CSRF-TOKEN", ""))
                            .status())
                    .as("refused by Spring Security, whose error page asks for a login")
                    .isIn(401, 403);
        }
    }
}
