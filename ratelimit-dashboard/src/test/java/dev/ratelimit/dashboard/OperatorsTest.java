package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.operate.LimitView;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.Steering;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;
import org.springframework.context.ConfigurableApplicationContext;

/** The page in the hands of operators who make mistakes or work at the same time, and with names that clients choose. */
class OperatorsTest {

    private static final String LONG = String.join("", Collections.nCopies(300, "x"));

    /** Tables of the screen that are wider than their card. */
    private static final String WIDE = "return [...document.querySelectorAll('.scroll')]"
            + ".filter(table => table.scrollWidth > table.clientWidth).map(table => table.innerText).join()";

    @TempDir
    static Path folder;

    private static ConfigurableApplicationContext shop;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        Map<String, String> settings = Traffic.settings(folder);
        settings.put("ratelimit.tiers.names", "pro");
        settings.put("ratelimit.limits.orders.tiers.pro.max-requests", "200");
        settings.put("ratelimit.limits.login.algorithm", "fixed-window");
        settings.put("ratelimit.limits.login.max-requests", "3");
        settings.put("ratelimit.limits.login.window", "1h");
        settings.put("ratelimit.login.limit", "login");
        browser = Browser.start();
        shop = Shop.start(settings);
        Traffic.repeat(3, Http.at(shop).as("alice"), "/api/orders/1");
        Traffic.repeat(5, Http.at(shop).as("alice"), "/api/search/" + LONG);
        Traffic.repeat(5, Http.at(shop).as("eve:guessed"), "/api/orders/1");
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

    private static RateLimitAdmin admin() {
        return shop.getBean(RateLimitAdmin.class);
    }

    private static Change because(String reason) {
        return Change.by("ops").because(reason);
    }

    private static Map<String, String> properties(String limit) {
        return shop.getBean(Operations.class).limit(limit).properties().stream()
                .collect(Collectors.toMap(LimitView.Property::name, LimitView.Property::value));
    }

    @Test
    @DisplayName(
            "A change on a version that is no longer in force is refused; the operator's values stay in the dialog")
    void twoOperators() {
        browser.screen("limits/burst", "History");
        browser.press("Change …");
        browser.awaitText("Change burst");
        admin().limits().set("burst", Map.of("refill", "5/m"), because("the other operator"));
        browser.run("const real = window.fetch.bind(window); window.sent = [];"
                + "window.fetch = async (url, options) => {"
                + "  if (String(url).endsWith('steer/set-limit')) {"
                + "    window.sent.push(JSON.parse(options.body).version);"
                + "    if (window.sent.length === 1) return new Response("
                + "      JSON.stringify({ detail: 'Limit burst has changed meanwhile.' }), { status: 409 });"
                + "  }"
                + "  return real(url, options); }");
        browser.type("[name='p:burst']", "15");
        browser.type("#f-reason", "more room");
        browser.press("Save");
        browser.awaitText("Limit burst has changed meanwhile.");
        assertThat(browser.faintTexts()).isEmpty();
        browser.picture("conflict");
        browser.press("Load the current values");
        browser.await(
                "the value of the other operator",
                () -> browser.all("[name='p:refill']").stream()
                        .anyMatch(field -> "5/m".equals(field.getDomProperty("value"))));
        assertThat(browser.find("[name='p:burst']").getDomProperty("value")).isEqualTo("15");
        assertThat(browser.find("#f-reason").getDomProperty("value")).isEqualTo("more room");
        browser.press("Save");
        browser.awaitText("Saved.");

        assertThat(properties("burst")).containsEntry("burst", "15").containsEntry("refill", "5/m");
        assertThat(browser.run("return window.sent.join()"))
                .as("versions at the opening")
                .isEqualTo("0,1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"min-interval", "min-interval:", ": 5s", "min interval: 5s"})
    @DisplayName("Another property without a name and a value is refused, and nothing is sent")
    void addition(String written) {
        int versions = admin().limits().history("search").size();
        browser.screen("limits/search", "History");
        browser.press("Change …");
        browser.type("#f-added", written);
        browser.type("#f-reason", "slower");
        browser.press("Save");
        browser.awaitText("Write property: value, such as min-interval: 5s.");
        assertThat(browser.run("return document.activeElement.id")).isEqualTo("f-added");
        browser.press("Cancel");
        assertThat(admin().limits().history("search")).hasSize(versions);
    }

    @Test
    @DisplayName("A rolled back version keeps its end unless the operator chooses another")
    void endOfRollBack() {
        Instant end = Instant.now().plus(Duration.ofHours(2)).truncatedTo(ChronoUnit.SECONDS);
        admin().limits()
                .set(
                        "orders",
                        Map.of("max-requests", "600"),
                        because("launch day").until(end));
        admin().limits().set("orders", Map.of("max-requests", "30"), because("calm"));
        browser.screen("limits/orders", "calm");
        assertThat(browser.text())
                .contains("At most 30 requests per minute. Tier pro: max-requests 200.")
                .containsPattern("launch day\\s+replaced");
        browser.press("Roll back …");
        browser.awaitText("It keeps its end, unless you choose another.");
        browser.picture("roll-back-temporary");
        browser.type("#f-reason", "another launch");
        browser.press("Roll back");
        browser.awaitText("another launch");

        LimitView orders = shop.getBean(Operations.class).limit("orders");
        assertThat(orders.source().change().until()).isEqualTo(end);
        assertThat(orders.sentence()).contains("600");
    }

    @Test
    @DisplayName("A limit that is derived from another leads to that; a quota is plain text")
    void derivedLimits() {
        browser.screen("subjects/name%3Aeve", "Recent requests");
        browser.awaitText("login:name");
        assertThat(browser.all("main a[href='#/limits/login']")).isNotEmpty();
        browser.screen("subjects/user%3Aalice", "Recent requests");
        browser.awaitText("quota:day");
        assertThat(browser.all("main a[href*='quota']")).isEmpty();
        browser.find("main a[href='#/limits/orders']").click();
        browser.awaitText("History");
    }

    @Test
    @DisplayName("A long path or name hides no other column, on a screen and on a phone")
    void longTexts() {
        admin().quotas()
                .block("guest" + LONG, because("guesses").until(Instant.now().plus(Duration.ofHours(1))));
        for (Map.Entry<String, String> screen : Map.of(
                        "subjects/user%3Aalice", "xxxxx",
                        "changes", "guestxxx",
                        "now", "Most denied")
                .entrySet()) {
            browser.screen(screen.getKey(), screen.getValue());
            for (int width : new int[] {1280, 720, 390}) {
                browser.look("light", width);
                browser.picture("long-" + screen.getKey().substring(0, 3)
                        + screen.getKey().length() + "-" + width);
                assertThat(browser.overflow())
                        .as("%s at %s", screen.getKey(), width)
                        .isLessThanOrEqualTo(0);
                browser.await("tables as wide as their card", () -> "".equals(browser.run(WIDE)));
            }
        }
        admin().quotas().unblock("guest" + LONG, because("over"));
    }

    @Test
    @DisplayName("Changes tells the block of addresses as a block, and leads to the addresses")
    void blockOfAddresses() {
        Operations operations = shop.getBean(Operations.class);
        operations.steer("ops", "scraping").blockAddress("198.51.100.7", null);
        operations.steer("ops", "apologised").unblockAddress("198.51.100.7");
        browser.screen("changes", "unblocked ip:198.51.100.7");
        assertThat(browser.text())
                .contains("\nblocked ip:198.51.100.7\n", "scraping")
                .doesNotContain("blocked:198");
        browser.find("main a[href='#/subjects/ip%3A198.51.100.7']").click();
        browser.awaitText("Recent requests");
    }

    @Test
    @DisplayName("Changes takes back the newest change of a limit, a rule or a user, and shows the effect before")
    void undo() {
        Steering ops = shop.getBean(Operations.class).steer("ops", "by mistake");
        ops.setLimit("search", Map.of("max-requests", "5"), null);
        ops.setLimit("search", Map.of("max-requests", "500"), null);
        ops.switchRule("search", false, null);
        ops.blockUser("dora", null);
        browser.screen("changes", "user dora");
        assertThat(browser.all("button[aria-label^='Undo: ops changed limit search']"))
                .as("only the newest change of a limit")
                .hasSize(1);
        assertThat(browser.find("tr:has(button[aria-label='Undo: ops switched off rule search'])")
                        .getText())
                .as("a rule that is switched off keeps its properties")
                .doesNotContain("removed");
        assertThat(browser.nameless()).isEmpty();

        takeBack("Undo: ops changed limit search: max-requests 5 → 500", "Roll search back to version", "Roll back");
        assertThat(properties("search")).containsEntry("max-requests", "5");
        takeBack("Undo: ops switched off rule search", "Switch rule search on", "Switch on");
        assertThat(shop.getBean(Operations.class).rule("search").enabled()).isTrue();
        takeBack("Undo: ops blocked user dora", "Unblock user:dora", "Unblock");
        assertThat(shop.getBean(Operations.class).user("dora").block()).isNull();

        Instant end = Instant.now().plus(Duration.ofHours(3));
        ops.blockAddress("203.0.113.99", end);
        ops.resetAll("ip:203.0.113.99");
        ops.blockUser("erik", end);
        ops.unblockUser("erik");
        ops.removeLimit("search");
        ops.setLimit("search", Map.of("max-requests", "50"), null);
        browser.screen("changes", "max-requests");
        browser.await(
                "the newest change",
                () -> !browser.all("button[aria-label$='max-requests 3 → 50']").isEmpty());
        assertThat(browser.all("button[aria-label='Undo: ops blocked ip:203.0.113.99']"))
                .as("a reset does not end a block")
                .hasSize(1);
        assertThat(browser.all("tr:has(td a[href$='erik']) [data-until]"))
                .as("the end of a block that is over already")
                .isEmpty();
        assertThat(browser.all("tr:has(td a[href$='203.0.113.99']) [data-until]"))
                .hasSize(1);
        takeBack(
                "Undo: ops changed limit search: max-requests 3 → 50",
                "Return search to the configuration",
                "Return to the configuration");
        assertThat(properties("search")).containsEntry("max-requests", "3");
    }

    private static void takeBack(String label, String title, String confirm) {
        browser.run(
                "[...document.querySelectorAll('main button')]"
                        + ".find(button => button.getAttribute('aria-label') === arguments[0]).click()",
                label);
        browser.awaitText(title);
        browser.type("#f-reason", "taken back");
        browser.press(confirm);
        browser.awaitText("The change is taken back.");
        browser.await(
                "the button is gone",
                () -> browser.all("button[aria-label='" + label + "']").isEmpty());
    }

    @Test
    @DisplayName("The times in a change are those of the browser, and not in parts of a second")
    void timesInChanges() {
        admin().keys()
                .create(
                        NewApiKey.of("until spring", "alice").expires(Instant.parse("2031-03-01T10:00:00.123456Z")),
                        because("a partner"));
        browser.screen("changes", "until spring");
        assertThat(browser.text()).contains("Mar 1 2031").doesNotContain("00.123456");
    }

    @Test
    @DisplayName("A name without its kind in the address is searched")
    void nameWithoutKind() {
        browser.screen("subjects/alice", "Found");
        browser.await(
                "the user",
                () -> !browser.all(".found a[href='#/subjects/user%3Aalice']").isEmpty());
        assertThat(browser.text()).doesNotContain("Loading", "Recent requests");
        assertThat(browser.find("#stale").isDisplayed()).isFalse();
    }

    @Test
    @DisplayName(
            "A name that is too long for its subject, such as in a link of Changes, leads to the shortened subject")
    void longName() {
        browser.screen("subjects/user%3A" + LONG, "Show user:xxx");
        browser.find(".found a, .empty a").click();
        browser.awaitText("Recent requests");
        browser.complaints(); // The browser reports the status 422.
    }

    @Test
    @DisplayName("The next request of a blocked user is blocked, also where a limit has room")
    void blocked() {
        admin().quotas().block("bob", because("guesses"));
        Http.at(shop).as("bob").get("/api/orders/1");
        admin().quotas().unblock("bob", because("over"));
        Traffic.repeat(1, Http.at(shop).as("bob"), "/api/orders/1");
        browser.screen("subjects/user%3Abob", "Block …");
        browser.awaitText("✓allowed");
        browser.press("Block …");
        browser.type("#f-reason", "guesses again");
        browser.press("Block");
        browser.awaitText("Blocked for another");
        browser.await(
                "no allowed limit",
                () -> !browser.find("section[aria-labelledby=h-limits]")
                        .getText()
                        .contains("allowed"));
        browser.press("Unblock …");
        browser.type("#f-reason", "over");
        browser.press("Unblock");
        browser.awaitText("Unblocked on all instances.");
    }

    @Test
    @DisplayName("A user without entries leads to the failed logins under that name")
    void siblings() {
        browser.screen("subjects/user%3Aeve", "The audit trail has no entry of the last 24 hours.");
        browser.awaitText("Look also under name:eve.");
        browser.find("main a[href='#/subjects/name%3Aeve']").click();
        browser.awaitText("login:name");
    }

    @Test
    @DisplayName("Explain asks for a curl line, and says that a proxy may remove a prefix when no rule applies")
    void explain() {
        browser.screen("explain", "Or paste a curl line");
        browser.press("Explain curl line");
        browser.awaitText("Paste a curl line first.");
        assertThat(browser.run("return document.activeElement.id")).isEqualTo("e-curl");
        browser.type("#e-curl", "curl https://shop.example/prefix/api/orders/1");
        browser.press("Explain curl line");
        browser.awaitText("write the path without it");
        browser.type("#e-curl", "curl https://shop.example/api/orders/1");
        browser.press("Explain curl line");
        browser.awaitText("GET /api/orders/1");
        assertThat(browser.text()).doesNotContain("write the path without it", "Paste a curl line first.");
    }

    @Test
    @DisplayName("Limits names the other limits that must have room for the requests of a rule")
    void companions() {
        browser.screen("limits", "Requests of rule orders also need room in burst.");
        assertThat(browser.text()).contains("Requests of rule orders also need room in orders.");
        browser.picture("companions");
        browser.type("#limits-filter", "burst" + Keys.ENTER);
        browser.await("the filter", () -> !browser.text().contains("needs room in burst"));
        browser.awaitText("Requests of rule orders also need room in orders.");
    }

    @Test
    @DisplayName("A phone shows the beginning of long lists, the name of the operator and the list of shortcuts")
    void phone() {
        for (int i = 0; i < 12; i++) {
            Traffic.repeat(6, Http.at(shop).as("phone" + i), "/api/search/1");
            admin().limits().set("search", Map.of("max-requests", String.valueOf(3 + i % 2)), because("round " + i));
        }
        shop.getBean(RequestAudit.class).flush();
        browser.look("light", 390);
        for (String title : new String[] {"Most denied", "Busiest", "Active penalties", "Changes"}) {
            boolean ofChanges = title.equals("Changes");
            browser.screen(ofChanges ? "changes" : "now", ofChanges ? "round 11" : "Most denied");
            String more = "[data-key='more " + title + "']";
            String rows = "section:has(" + more + ") tbody tr";
            browser.await("a button for all", () -> !browser.all(more).isEmpty());
            assertThat(browser.all(rows)).as(title).hasSize(ofChanges ? 8 : 4);
            assertThat(browser.run("return document.documentElement.scrollHeight"))
                    .as(title)
                    .isInstanceOfSatisfying(
                            Long.class, height -> assertThat(height).isLessThan(2_500));
            browser.picture("phone-" + title.replace(' ', '-'));
            browser.run("document.querySelector(arguments[0]).click()", more);
            browser.await("all of them", () -> browser.all(rows).size() > 11);
            browser.run("document.querySelector(arguments[0]).click()", more);
            browser.await("the beginning", () -> browser.all(rows).size() < 9);
        }
        assertThat(browser.find("#who").isDisplayed()).isTrue();
        assertThat(browser.overflow()).isLessThanOrEqualTo(0);
        browser.find("#keys").click();
        browser.awaitText("Keyboard shortcuts");
        browser.press("Close");
    }

    @Test
    @DisplayName("Subjects lists the blocks of users and addresses, and ends them")
    void blocks() {
        Steering ops = shop.getBean(Operations.class).steer("ops", "guesses");
        ops.blockUser("carl", null);
        ops.blockAddress("203.0.113.0/24", Instant.now().plus(Duration.ofHours(1)));
        browser.screen("subjects", "user:carl");
        assertThat(browser.text()).containsPattern("ip:203\\.0\\.113\\.0/24\\s+guesses\\s+ops");
        browser.picture("blocks");
        browser.find("button[aria-label='Unblock user:carl']").click();
        browser.type("#f-reason", "apologised");
        browser.press("Unblock");
        browser.await(
                "the other block only",
                () -> browser.all("button[aria-label^='Unblock']").size() == 1);

        browser.screen("subjects/ip%3A203.0.113.7", "Blocked with ip:203.0.113.0/24 for another");
        browser.press("Unblock …");
        browser.awaitText("Unblock ip:203.0.113.0/24");
        browser.type("#f-reason", "over");
        browser.press("Unblock");
        browser.awaitText("Block …");
    }
}
