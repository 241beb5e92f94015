package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;

/** Access to the dashboard, and its protection from everybody else. The rule of this shop lets one request pass, ever. */
class AccessTest {

    private static final Map<String, String> ONE_REQUEST = Map.of(
            "ratelimit.limits.one.algorithm", "fixed-window",
            "ratelimit.limits.one.max-requests", "1",
            "ratelimit.limits.one.window", "3660d",
            "ratelimit.rules.all.path", "/**",
            "ratelimit.rules.all.key", "ip",
            "ratelimit.rules.all.limits", "one");

    private static ConfigurableApplicationContext shop;

    @BeforeAll
    static void start() {
        shop = Shop.start(ONE_REQUEST);
        assertThat(Http.at(shop).get("/api/orders/1").status()).isEqualTo(200);
        assertThat(Http.at(shop).get("/api/orders/1").status()).isEqualTo(429);
    }

    @AfterAll
    static void stop() {
        shop.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/ratelimit",
                "/ratelimit/",
                "/ratelimit/assets/app.js",
                "/ratelimit/data/session",
            })
    @DisplayName("Nobody gets 401, a customer 403, a viewer and an operator get in, whatever the rules say")
    void roles(String path) {
        Http nobody = Http.at(shop);

        assertThat(nobody.get(path).status()).isEqualTo(401);
        assertThat(nobody.as("customer").get(path).status()).isEqualTo(403);
        assertThat(nobody.as("viewer").get(path).status()).isIn(200, 302);
        assertThat(nobody.as("operator").get(path).status()).isIn(200, 302);
    }

    @Test
    @DisplayName("The rules apply to everything beside the dashboard, however the path is spelled")
    void noBypass() {
        Http operator = Http.at(shop).as("operator");

        for (String path : new String[] {
            "/ratelimit/orders",
            "/ratelimit/data/../orders",
            "/ratelimit/data/..;/orders",
            "/ratelimit/data/%2e%2e/orders",
            "/ratelimit/data/../../api/orders/1",
            "/ratelimitorders",
        }) {
            assertThat(operator.get(path).status()).as(path).isIn(400, 429);
        }
    }

    @Test
    @DisplayName("An address that keeps failing to get in is refused for a while; operators never use that up")
    void strangers() {
        try (ConfigurableApplicationContext own = Shop.start(Map.of())) {
            Http operator = Http.at(own).as("operator");
            IntStream.range(0, 2 * Door.STRANGERS)
                    .forEach(i -> assertThat(
                                    operator.get("/ratelimit/data/session").status())
                            .isEqualTo(200));

            Http guesser = Http.at(own).as("operator:guess");
            Http.Answer refused = guesser.get("/ratelimit/");
            for (int i = 0; i < 20 * Door.STRANGERS && refused.status() == 401; i++) {
                refused = guesser.get("/ratelimit/");
            }
            assertThat(refused.status()).isEqualTo(429);
            assertThat(guesser.get("/RATELIMIT/").status()).isIn(401, 429);
            assertThat(refused.header("Retry-After")).isNotEmpty();
            assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
            assertThat(refused.body()).contains("Too many requests to the dashboard");
        }
    }

    static final class Records implements DecisionListener {

        private final List<RequestRecord> all = new CopyOnWriteArrayList<>();

        @Override
        public void recorded(RequestRecord request) {
            all.add(request);
        }
    }

    @Test
    @DisplayName("Listeners are told about each request that is refused at the door, and only about those")
    void refusalsAreRecorded() {
        try (ConfigurableApplicationContext own = Shop.start(Map.of(), Records.class)) {
            Http guesser = Http.at(own).as("operator:guess");
            int refused = 0;
            for (int i = 0; i < 20 * Door.STRANGERS && refused < 2; i++) {
                refused += guesser.get("/ratelimit/").status() == 429 ? 1 : 0;
            }
            assertThat(refused).isEqualTo(2);

            assertThat(own.getBean(Records.class).all)
                    .filteredOn(record -> !record.asked().isEmpty())
                    .hasSize(2)
                    .allSatisfy(record -> {
                        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
                        assertThat(record.allowed()).isFalse();
                        assertThat(record.retryAfter()).isPositive();
                        assertThat(record.tightest().limit().name()).isEqualTo("dashboard-strangers");
                        assertThat(record.exchange().path()).isEqualTo("/ratelimit/");
                        assertThat(record.exchange().status()).isEqualTo(429);
                        assertThat(record.exchange().address()).isEqualTo("127.0.0.1");
                    });
        }
    }

    @Test
    @DisplayName("Strangers at the same address do not lock out an operator who is at work")
    void operatorsAtWork() {
        try (ConfigurableApplicationContext own = Shop.start(Map.of())) {
            Http operator = Http.at(own).as("operator");
            String cookie = operator.get("/ratelimit/").header("Set-Cookie").split(";", 2)[0];
            Map<String, String> browser = Map.of("Cookie", cookie);
            assertThat(operator.get("/ratelimit/data/session", browser).status())
                    .isEqualTo(200);

            Http guesser = Http.at(own).as("operator:guess");
            String invented = Forgeries.COOKIE + "=" + "x".repeat(32);
            int status = 401;
            for (int i = 0; i < 20 * Door.STRANGERS && status == 401; i++) {
                status = guesser.get("/ratelimit/", Map.of("Cookie", invented)).status();
            }
            assertThat(status).isEqualTo(429);

            assertThat(operator.get("/ratelimit/data/now", browser).status()).isEqualTo(200);
            assertThat(operator.get("/ratelimit/", browser).status()).isEqualTo(200);
        }
    }

    @Test
    @DisplayName("The dashboard asks for its authority even if the application lets everybody pass")
    void permitAll() {
        try (ConfigurableApplicationContext open = Shop.start(Map.of("shop.open", "true"))) {
            assertThat(Http.at(open).get("/ratelimit/").status()).isEqualTo(401);
            assertThat(Http.at(open).get("/ratelimit/data/session").status()).isEqualTo(401);
            assertThat(Http.at(open)
                            .as("customer")
                            .get("/ratelimit/data/session")
                            .status())
                    .isEqualTo(403);
            assertThat(Http.at(open).as("viewer").get("/ratelimit/data/session").status())
                    .isEqualTo(200);
        }
    }

    @Test
    @DisplayName("The filter chain of the guide protects the dashboard alone")
    void guide() {
        try (ConfigurableApplicationContext own = Shop.start(Map.of("shop.form", "true"), DashboardSecurity.class)) {
            assertThat(Http.at(own).get("/ratelimit/").header("WWW-Authenticate"))
                    .startsWith("Basic");
            assertThat(Http.at(own).as("customer").get("/ratelimit/").status()).isEqualTo(403);
            assertThat(Http.at(own).as("viewer").get("/ratelimit/").status()).isEqualTo(200);
            assertThat(Http.at(own).get("/api/orders/1").status()).isEqualTo(200);
        }
    }

    @Test
    @DisplayName("With a login form, nobody is sent to it")
    void loginForm() {
        try (ConfigurableApplicationContext form = Shop.start(Map.of("shop.form", "true", "shop.open", "true"))) {
            Http.Answer answer = Http.at(form).get("/ratelimit/", Map.of("Accept", "text/html"));
            assertThat(answer.status()).isEqualTo(302);
            assertThat(answer.header("Location")).endsWith("/login");
        }
    }

    @Test
    @DisplayName("Other authorities and another path can be configured")
    void otherNames() {
        try (ConfigurableApplicationContext other = Shop.start(Map.of(
                "ratelimit.dashboard.path", "/ops/limits",
                "ratelimit.dashboard.view-authority", "ROLE_USER",
                "ratelimit.dashboard.steer-authority", "RATELIMIT_VIEW"))) {
            Http.Answer customer = Http.at(other).as("customer").get("/ops/limits/data/session");
            assertThat(customer.json().get("maySteer").asBoolean()).isFalse();
            Http.Answer viewer = Http.at(other).as("viewer").get("/ops/limits/data/session");
            assertThat(viewer.json().get("maySteer").asBoolean()).isTrue();
            assertThat(viewer.json().get("user").asString()).isEqualTo("viewer");
            assertThat(Http.at(other)
                            .as("operator")
                            .get("/ops/limits/data/session")
                            .status())
                    .isEqualTo(403);
            assertThat(Http.at(other).as("viewer").get("/ops/limits").header("Location"))
                    .isEqualTo("limits/");
        }
    }

    @Test
    @DisplayName("Answers have a strict policy, and data is not stored")
    void headers() {
        Http viewer = Http.at(shop).as("viewer");

        for (String path : new String[] {"/ratelimit/", "/ratelimit/assets/app.js", "/ratelimit/data/session"}) {
            Http.Answer answer = viewer.get(path);
            assertThat(answer.header("Content-Security-Policy"))
                    .as(path)
                    .isEqualTo("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
                            + " connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
            assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(answer.header("Referrer-Policy")).isEqualTo("no-referrer");
        }
        assertThat(viewer.get("/ratelimit/data/session").header("Cache-Control"))
                .isEqualTo("no-store");
        String tag = viewer.get("/ratelimit/assets/app.js").header("ETag");
        assertThat(viewer.get("/ratelimit/assets/app.js", Map.of("If-None-Match", tag))
                        .status())
                .isEqualTo(304);
    }

    @Test
    @DisplayName("The page answers HEAD as it answers GET")
    void head() {
        assertThat(Http.at(shop).as("operator").head("/ratelimit/").status()).isEqualTo(200);
        assertThat(Http.at(shop).head("/ratelimit/").status()).isEqualTo(401);
    }

    @Test
    @DisplayName("Files that are not of the page are not served")
    void otherFiles() {
        Http viewer = Http.at(shop).as("viewer");

        assertThat(viewer.get("/ratelimit/assets/Assets.class").status()).isEqualTo(404);
        assertThat(viewer.get("/ratelimit/assets/..%2f..%2fapplication.properties")
                        .status())
                .isIn(400, 404, 429);
    }
}
