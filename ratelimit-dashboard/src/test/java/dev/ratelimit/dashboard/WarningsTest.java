package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

/** The top of Now in a browser, in an application on PostgreSQL where something is wrong. */
class WarningsTest {

    private static final Map<String, String> FEW_ORDERS = Map.of(
            "ratelimit.store.type", "postgresql",
            "ratelimit.store.postgresql.url", TestPostgres.instance().jdbcUrl(),
            "ratelimit.store.postgresql.username", "",
            "ratelimit.store.postgresql.password", "",
            "ratelimit.limits.orders.algorithm", "fixed-window",
            "ratelimit.limits.orders.max-requests", "1",
            "ratelimit.limits.orders.window", "3660d",
            "ratelimit.rules.orders.path", "/api/orders/*",
            "ratelimit.rules.orders.key", "user",
            "ratelimit.rules.orders.limits", "orders");

    @Test
    @DisplayName("A condition that an alert is for is at the top of Now, above the numbers, and leads to its limit")
    void warning() {
        Map<String, String> settings = new LinkedHashMap<>(FEW_ORDERS);
        settings.put(
                "ratelimit.store.postgresql.schema", TestPostgres.instance().freshSchema());
        settings.put("ratelimit.monitoring.warnings.offenders", "2");
        try (Browser browser = Browser.start();
                ConfigurableApplicationContext shop = Shop.start(settings)) {
            browser.as("operator").go(Http.base(shop) + "/ratelimit/");
            browser.awaitText("Nothing is wrong.");

            for (String user : List.of("mia", "noa", "mia", "noa")) {
                Http.at(shop).as(user).get("/api/orders/1");
            }

            browser.awaitText("Limit orders denied about 2 different subjects");
            assertThat(browser.text()).contains("1 warning").doesNotContain("Nothing is wrong.");
            assertThat(browser.run("return document.querySelector('.warnings').getBoundingClientRect().bottom"
                            + " <= document.querySelector('.tiles').getBoundingClientRect().top"))
                    .isEqualTo(true);
            for (String scheme : List.of("light", "dark")) {
                browser.look(scheme, 1280);
                assertThat(browser.faintTexts()).as(scheme).isEmpty();
                browser.picture("warning-" + scheme);
            }
            assertThat(browser.text()).containsPattern("Connections\\s+\\d+ active and \\d+ idle of \\d+, 0 waiting");

            browser.find(".warnings a").click();
            browser.awaitText("History");
            assertThat(browser.url()).endsWith("#/limits/orders");
            assertThat(browser.complaints()).isEmpty();
        }
    }
}
