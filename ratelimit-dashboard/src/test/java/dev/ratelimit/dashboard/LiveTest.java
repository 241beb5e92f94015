package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.audit.RequestAudit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.springframework.context.ConfigurableApplicationContext;

/** The page while an operator reads it and the data goes on. */
class LiveTest {

    @TempDir
    static Path folder;

    private static ConfigurableApplicationContext shop;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        browser = Browser.start();
        shop = Shop.start(Traffic.settings(folder));
        Traffic.repeat(3, Http.at(shop).as("alice"), "/api/orders/1");
        Traffic.repeat(7, Http.at(shop).as("mallory"), "/api/search/1");
        shop.getBean(RateLimitAdmin.class)
                .limits()
                .set("orders", Map.of("max-requests", "30"), Change.by("ops").because("more room"));
        shop.getBean(RequestAudit.class).flush();
        browser.as("operator").go(Http.base(shop) + "/ratelimit/");
        browser.awaitText("Most denied");
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (shop != null) {
            shop.close();
        }
    }

    @AfterEach
    void browserDoesNotComplain() {
        browser.look("light", 1280);
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    @DisplayName("Single keys open screens, the search and their list; they rest in fields, and can be switched off")
    void shortcuts() {
        browser.screen("now", "Most denied");
        browser.keys("2");
        browser.awaitText("Rules, in the order of evaluation");
        browser.keys("/");
        assertThat(browser.run("return document.activeElement.id")).isEqualTo("limits-filter");
        browser.keys("5");
        assertThat(browser.url()).as("a number is text in a field").endsWith("#/limits");
        browser.keys(Keys.BACK_SPACE, Keys.TAB, "?");
        browser.awaitText("Keyboard shortcuts");
        assertThat(browser.nameless()).isEmpty();
        for (String scheme : new String[] {"light", "dark"}) {
            browser.look(scheme, 1280);
            assertThat(browser.faintTexts()).as(scheme).isEmpty();
        }
        browser.picture("shortcuts-dark");
        browser.find("#keys-on").click();
        browser.keys(Keys.ESCAPE);
        browser.await("no dialog", () -> browser.all("dialog").isEmpty());
        browser.keys("1");
        assertThat(browser.url()).as("keys that are off").endsWith("#/limits");

        browser.go(Http.base(shop) + "/ratelimit/#/limits");
        browser.awaitText("Rules, in the order of evaluation");
        browser.find("#keys").click();
        assertThat(browser.find("#keys-on").isSelected())
                .as("the choice is kept")
                .isFalse();
        browser.find("#keys-on").click();
        browser.press("Close");
        browser.keys("1");
        browser.awaitText("Most denied");
    }

    @Test
    @DisplayName("Updates stop while the operator reads, and go on afterwards")
    void pause() {
        browser.screen("now", "Most denied");
        browser.run("window.calls = 0; import(new URL('assets/api.js', location.origin + location.pathname))"
                + ".then(({ Poller }) => new Poller(async () => { window.calls++; }, 10, () => {}))");
        browser.await("calls", () -> calls() > 3);

        browser.find("#fresh").click();
        browser.await("the pause", () -> browser.find("#fresh").getText().startsWith("Paused at "));
        assertThat(browser.find("#fresh").getDomAttribute("aria-pressed")).isEqualTo("true");
        browser.run("window.seen = window.calls; window.over = false; setTimeout(() => { window.over = true; }, 300)");
        browser.await("thirty times the interval", () -> Boolean.TRUE.equals(browser.run("return window.over")));
        assertThat(calls()).isEqualTo(((Number) browser.run("return window.seen")).longValue());

        browser.find("#fresh").click();
        browser.await("more calls", () -> calls() > ((Number) browser.run("return window.seen")).longValue() + 3);
        assertThat(browser.find("#fresh").getText()).isEqualTo("Live");
        browser.go("about:blank"); // Ends the calls.
        browser.go(Http.base(shop) + "/ratelimit/");
        browser.awaitText("Most denied");
    }

    private static long calls() {
        return ((Number) browser.run("return window.calls")).longValue();
    }

    @Test
    @DisplayName("The charts mark a change by an operator, with its author; that of a limit shows its trial, too")
    void marks() {
        browser.screen("now", "Change by an operator");
        browser.find(".chart").sendKeys(Keys.END);
        browser.await("the change in its minute", () -> {
            boolean found = browser.find(".readout").getText().contains("ops changed limit orders: max-requests");
            if (!found) {
                browser.find(".chart").sendKeys(Keys.ARROW_LEFT);
            }
            return found;
        });
        assertThat(browser.find(".tip").getText()).contains("ops changed limit orders", "Allowed");
        for (String scheme : new String[] {"light", "dark"}) {
            browser.look(scheme, 1280);
            assertThat(browser.faintTexts()).as(scheme).isEmpty();
        }
        browser.picture("marks-dark");

        browser.screen("limits/orders", "The trial would deny");
        browser.awaitText("Change by an operator");
        assertThat(browser.all("svg.chart .tried")).hasSize(1);
        assertThat(browser.all("svg.chart .change")).hasSize(1);
    }

    @Test
    @DisplayName("The bar that the pointer chose in a chart stays when newer data comes")
    void hover() {
        browser.screen("now", "Requests per minute");
        browser.await("bars", () -> !browser.all("svg.chart .allowed").isEmpty());
        // The last minute with requests: the current one may have begun just now.
        browser.run("const chart = document.querySelector('svg.chart');"
                + "const box = [...chart.querySelectorAll('.allowed')].at(-1).getBoundingClientRect();"
                + "chart.dispatchEvent(new PointerEvent('pointermove',"
                + " { clientX: box.left + box.width / 2, clientY: box.top, bubbles: true }))");
        String before = browser.find(".tip").getText();
        assertThat(before).contains("Allowed");
        browser.run("window.oldChart = document.querySelector('svg.chart')");

        Traffic.repeat(2, Http.at(shop).as("alice"), "/api/orders/1");
        shop.getBean(RequestAudit.class).flush();

        browser.await(
                "a newer chart",
                () -> Boolean.TRUE.equals(
                        browser.run("return window.oldChart !== document.querySelector('svg.chart')")));
        assertThat(browser.find(".tip").getText()).startsWith(before.substring(0, "00:00".length()));
        assertThat(browser.find(".cursor").getDomAttribute("visibility")).isEqualTo("visible");
    }

    @Test
    @DisplayName("The focus stays on its link when newer data comes, also where the same link is in two lists")
    void focus() {
        browser.screen("now", "Busiest");
        String busiest = "[data-part=busiest] a[href='#/subjects/user%3Amallory']";
        browser.await("the subject", () -> !browser.all(busiest).isEmpty());
        browser.tabTo(busiest);
        browser.run("window.oldLink = document.activeElement");

        Traffic.repeat(1, Http.at(shop).as("alice"), "/api/orders/1");
        shop.getBean(RequestAudit.class).flush();

        browser.await("newer lists", () -> Boolean.FALSE.equals(browser.run("return window.oldLink.isConnected")));
        assertThat(browser.run("return document.activeElement.matches(arguments[0])", busiest))
                .isEqualTo(true);
    }

    @Test
    @DisplayName("While the data of a screen waits for the database, the state and the warnings are there at once")
    void waiting() {
        browser.go("about:blank");
        browser.go(Http.base(shop) + "/ratelimit/#/explain");
        browser.awaitText("Describe a request");
        browser.run("document.getElementById('health').hidden = true;"
                + "document.getElementById('health').textContent = '';"
                + "const real = window.fetch.bind(window); window.fetch = (url, options) =>"
                + " String(url).includes('data/now') ? new Promise(() => {}) : real(url, options);"
                + "location.hash = '#/now'");
        browser.await(
                "the state",
                () -> browser.find("#health").isDisplayed()
                        && !browser.all(".calm, .warnings").isEmpty());
        assertThat(browser.all("[data-part]")).as("what waits").isEmpty();
        browser.go("about:blank");
        browser.go(Http.base(shop) + "/ratelimit/");
        browser.awaitText("Most denied");
    }

    @Test
    @DisplayName("A limit that is not there is said to be missing, with a way back, and is not asked for again")
    void notFound() {
        browser.screen("limits/nosuch", "Not found");
        assertThat(browser.find("main .empty").getText()).contains("nosuch");
        assertThat(browser.find("#stale").isDisplayed()).isFalse();
        browser.complaints(); // The browser reports the status 404.
        browser.find("main a[href='#/limits']").click();
        browser.awaitText("Rules, in the order of evaluation");
    }

    @Test
    @DisplayName("Explain begins with a subject, and tells the way of a request in steps up to its end")
    void story() {
        browser.screen("subjects/user%3Amallory", "Explain a request");
        browser.find("[data-key=explain]").click();
        browser.awaitText("Describe a request");
        assertThat(browser.find("#e-user").getDomProperty("value")).isEqualTo("mallory");
        browser.type("#e-path", "/api/search/1");
        browser.press("Explain");
        browser.awaitText("The request is denied.");
        assertThat(browser.all(".story > .step").stream()
                        .map(step -> step.getText().lines().findFirst().orElse("")))
                .containsExactly(
                        "GET /api/search/1 arrives. No address was given.",
                        "The sender is user:mallory. The tier is free, from the default.",
                        "One rule does not apply:",
                        "Rule search applies, and asks:",
                        "Rule quota applies, and asks:",
                        "The request is denied.");
        assertThat(browser.all(".answers a[href='#/limits/search']")).hasSize(1);
        assertThat(browser.find(".remedy").getText()).isEqualTo("To change that, open limit search or user:mallory.");
        for (String scheme : new String[] {"light", "dark"}) {
            browser.look(scheme, 1280);
            assertThat(browser.faintTexts()).as(scheme).isEmpty();
            browser.picture("story-" + scheme);
        }
        browser.type("#e-user", "noa");
        browser.press("Explain");
        browser.awaitText("The request reaches the application.");
        assertThat(browser.all(".remedy")).isEmpty();
    }

    @Test
    @DisplayName("All that the page loads and asks for comes from the application")
    void ownHostOnly() {
        browser.go("about:blank");
        browser.go(Http.base(shop) + "/ratelimit/");
        browser.awaitText("Most denied");
        for (Map.Entry<String, String> screen : Map.of(
                        "limits", "Rules, in the order of evaluation",
                        "limits/orders", "History",
                        "subjects/user%3Amallory", "Recent requests",
                        "explain", "Describe a request",
                        "changes", "more room")
                .entrySet()) {
            browser.screen(screen.getKey(), screen.getValue());
        }
        Object loaded = browser.run("return performance.getEntriesByType('resource').map(entry => entry.name)");

        assertThat(loaded)
                .asInstanceOf(InstanceOfAssertFactories.list(String.class))
                .hasSizeGreaterThan(15)
                .allMatch(url -> url.startsWith(Http.base(shop) + "/ratelimit/"));
    }

    @Test
    @DisplayName("Nothing moves for people who asked their system for less motion")
    void motion() {
        String duration = "const probe = document.createElement('div'); probe.className = 'loading';"
                + " document.body.append(probe); const found = getComputedStyle(probe).animationDuration;"
                + " probe.remove(); return found";
        assertThat(browser.run(duration)).isEqualTo("0.2s");
        browser.motion("reduce");
        assertThat(browser.run(duration)).isEqualTo("0.001s");
    }
}
