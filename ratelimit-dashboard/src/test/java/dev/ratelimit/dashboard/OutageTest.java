package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.testing.postgres.StoppablePostgres;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** The page while the database is gone: then an operator needs it most. */
class OutageTest {

    @TempDir
    static Path folder;

    @Test
    @DisplayName("While PostgreSQL is down, Now says so at the top, and goes on when it is back")
    void outage() {
        try (StoppablePostgres postgres = new StoppablePostgres(folder.resolve("data"))) {
            postgres.start();
            Map<String, String> settings = Map.of(
                    "ratelimit.store.type", "postgresql",
                    "ratelimit.store.postgresql.url", postgres.jdbcUrl(),
                    "ratelimit.store.deadline", "1s",
                    "ratelimit.limits.orders.algorithm", "fixed-window",
                    "ratelimit.limits.orders.max-requests", "5",
                    "ratelimit.limits.orders.window", "1h",
                    "ratelimit.rules.orders.path", "/api/orders/*",
                    "ratelimit.rules.orders.key", "user",
                    "ratelimit.rules.orders.limits", "orders");
            try (Browser browser = Browser.start();
                    ConfigurableApplicationContext shop = Shop.start(settings)) {
                browser.as("operator").go(Http.base(shop) + "/ratelimit/");
                browser.awaitText("Nothing is wrong.");
                assertThat(Http.at(shop).as("leo").get("/api/orders/1").status())
                        .isEqualTo(200);
                browser.awaitText("user:leo");

                postgres.stop();
                assertThat(Http.at(shop).as("mia").get("/api/orders/1").status())
                        .isEqualTo(200);
                browser.awaitText("Store unavailable");
                browser.awaitText("The database did not answer, so a part of this page is missing.");
                assertThat(browser.all(".warnings .bad")).hasSize(1);
                browser.awaitText("The audit trail or totals cannot be written, and wait in memory");
                browser.awaitText("The numbers below are older: they were read at ");
                assertThat(browser.text()).as("the last numbers stay").contains("user:leo");
                browser.picture("outage");
                Http.Answer limit = Http.at(shop).as("operator").get("/ratelimit/data/limit?name=orders");
                assertThat(limit.status()).as("a limit is in memory").isEqualTo(200);
                assertThat(limit.json().path("limit").path("sentence").asString())
                        .contains("5");
                assertThat(limit.json().path("missing").path("history").asString())
                        .contains("did not answer");

                postgres.start();
                AtomicInteger users = new AtomicInteger();
                browser.await("the end of the outage", () -> {
                    // A request finds out that the store is back. Each is of another user: denials would be a warning.
                    Http.at(shop).as("noa" + users.incrementAndGet()).get("/api/orders/1");
                    return browser.text().contains("Nothing is wrong.");
                });
            }
        }
    }
}
