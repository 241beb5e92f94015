package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import tools.jackson.databind.JsonNode;

/** The page with ten thousand limits, and as many subjects under a penalty. */
class LargeTest {

    private static final int MANY = 10_000;
    private static final int RULES = 500;

    private static final int CHANGES = 450;

    @TempDir
    static Path folder;

    private static ConfigurableApplicationContext shop;

    @BeforeAll
    static void start() {
        SqliteFile file = SqliteFile.at(folder.resolve("limits.db"));
        Schema.migrate(file);
        JdbcTemplate jdbc = new JdbcTemplate(file.dataSource());
        jdbc.update("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " + (MANY - 1) + ")"
                + " INSERT INTO rate_limit_configs (resource, version, definition)"
                + " SELECT format('tenant-%05d', i), 1, 'algorithm: fixed-window' || char(10) || 'max-requests: 5'"
                + " || char(10) || 'window: 1h' FROM n");
        jdbc.update(
                "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " + (RULES - 1) + ")"
                        + " INSERT INTO rate_limit_rules (rule_name, version, endpoint_pattern, limits, subject_key)"
                        + " SELECT format('rule-%03d', i), 1, format('/tenants/%d/**', i), format('tenant-%05d', i), 'user' FROM n");
        long now = TimeUnit.SECONDS.toMicros(Instant.now().getEpochSecond());
        long hour = TimeUnit.HOURS.toMicros(1);
        jdbc.update(
                "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " + (MANY - 1) + ")"
                        + " INSERT INTO rate_limit_penalties (user_id, resource, violation_count, last_violation_at,"
                        + " penalty_until, penalty_duration, forget_at)"
                        + " SELECT format('user:attacker%05d', i), 'tenant-00000', 3, ?, ? + i, ?, ? FROM n",
                now,
                now + hour,
                hour,
                now + 24 * hour);
        jdbc.update(
                "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " + (CHANGES - 1) + ")"
                        + " INSERT INTO rate_limit_admin_logs (changed_at, changed_by, action, kind, name, reason)"
                        + " SELECT ? + i, 'ops', 'block', 'user', format('user%03d', i), format('case %03d', i) FROM n",
                now - hour);
        shop = Shop.start(Map.of("ratelimit.store.sqlite.path", file.path().toString()));
    }

    @AfterAll
    static void stop() {
        if (shop != null) {
            shop.close();
        }
    }

    private static JsonNode read(String path) {
        return Http.at(shop).as("viewer").get("/ratelimit/data/" + path).json();
    }

    @Test
    @DisplayName(
            "An answer that an open page asks for every few seconds holds a bounded number of rows, and the number of all")
    void bounded() {
        JsonNode limits = read("limits");
        assertThat(limits.path("limits")).hasSize(100);
        assertThat(limits.path("limitCount").asInt()).isEqualTo(MANY);
        assertThat(limits.path("rules")).hasSize(100);
        assertThat(limits.path("ruleCount").asInt()).isEqualTo(RULES);

        JsonNode now = read("now");
        assertThat(now.path("limits")).hasSize(500);
        assertThat(now.path("limitCount").asInt()).isEqualTo(MANY);
        assertThat(now.path("penalties")).hasSize(50);
        assertThat(now.path("penaltyCount").asInt()).isEqualTo(MANY);
    }

    @Test
    @DisplayName("A filter finds limits by their name, and rules also by their path and their limits")
    void filter() {
        JsonNode found = read("limits?filter=TENANT-00042");
        assertThat(found.path("limits").findValuesAsString("name").get(0)).isEqualTo("tenant-00042");
        assertThat(found.path("limitCount").asInt()).isEqualTo(1);
        assertThat(found.path("rules").get(0).path("name").asString()).isEqualTo("rule-042");
        assertThat(found.path("rules").get(0).path("position").asInt())
                .as("its place among all rules")
                .isGreaterThan(1);

        assertThat(read("limits?filter=/tenants/7/").path("ruleCount").asInt()).isEqualTo(1);
        assertThat(read("limits?filter=nothing").path("limitCount").asInt()).isZero();
        assertThat(read("limit?name=tenant-09999").path("limit").path("name").asString())
                .isEqualTo("tenant-09999");
    }

    @Test
    @DisplayName("Changes are read page by page, the newest first, and the last page says that it is the last")
    void changes() {
        List<String> found = new ArrayList<>();
        JsonNode page = read("changes");
        while (page.path("more").asBoolean()) {
            assertThat(page.path("changes")).hasSize(200);
            found.addAll(page.path("changes").findValuesAsString("name"));
            page = read(
                    "changes?before=" + page.path("changes").get(199).path("id").asLong());
        }
        found.addAll(page.path("changes").findValuesAsString("name"));

        assertThat(found)
                .hasSize(CHANGES)
                .doesNotHaveDuplicates()
                .startsWith("user449")
                .endsWith("user000");
        assertThat(Http.at(shop)
                        .as("viewer")
                        .get("/ratelimit/data/changes?before=yesterday")
                        .status())
                .isEqualTo(400);
    }

    @Test
    @DisplayName("Changes finds an old change once older ones are read, and keeps them while newer data comes")
    void olderChanges() {
        try (Browser browser = Browser.start()) {
            browser.as("operator").go(Http.base(shop) + "/ratelimit/#/changes");
            browser.awaitText("These are from the newest 200 changes.");
            browser.type("#filter", "case 007");
            browser.awaitText("No change contains that.");
            browser.press("Show older");
            browser.awaitText("These are from the newest 400 changes.");
            browser.press("Show older");
            browser.awaitText("user007");
            assertThat(browser.all("tbody tr")).hasSize(1);
            assertThat(browser.text()).doesNotContain("Show older");

            browser.run("window.polls = 0; const real = window.fetch.bind(window);"
                    + "window.fetch = async (url, options) => {"
                    + "  const answer = await real(url, options);"
                    + "  if (String(url).endsWith('data/changes')) window.polls++;"
                    + "  return answer; };"
                    + "document.dispatchEvent(new Event('visibilitychange'))");
            browser.await("newer data", () -> ((Number) browser.run("return window.polls")).intValue() > 1);
            assertThat(browser.text()).contains("user007").doesNotContain("Show older");
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    @DisplayName("The screens say how many there are, and lead to the others")
    void screens() {
        try (Browser browser = Browser.start()) {
            browser.as("operator").go(Http.base(shop) + "/ratelimit/#/now");
            browser.awaitText("The 50 longest of 10,000.");
            assertThat(browser.find(".tiles").getText()).contains("10K");
            assertThat(browser.find(".controls select").getText()).contains("9,500 more are under Limits");

            browser.screen("limits", "The first 100 of 10,000 limits.");
            assertThat(browser.text()).contains("The first 100 of 500 rules.");
            browser.type("#limits-filter", "tenant-0777");
            browser.await(
                    "ten limits",
                    () -> browser.all("button[aria-label^='Raise tenant-']").size() == 10);
            assertThat(browser.text()).contains("No rule has that").doesNotContain("The first 100");
            assertThat(browser.run("return document.activeElement.id")).isEqualTo("limits-filter");
            browser.picture("limits-filtered");
            browser.look("light", 360);
            assertThat(browser.overflow()).isLessThanOrEqualTo(0);
            browser.picture("limits-filtered-phone");

            browser.screen("subjects", "User, address or API key");
            browser.type("#search", "attacker\n");
            browser.awaitText("More than 50 subjects begin like that.");
            assertThat(browser.complaints()).isEmpty();
        }
    }
}
