package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.operate.LimitView;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.FileSystemUtils;

/**
 * The page in a browser: an operator who logged in with the form of Spring Security, whose CSRF protection is on. Pictures of all
 * screens are in {@code target/screenshots}.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PageTest {

    private static final String MARKUP = "<img src=x onerror=alert(1)>";

    /** Its path is in the picture of the README. */
    private static final Path FOLDER = Path.of("target/shop");

    private static ConfigurableApplicationContext shop;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        FileSystemUtils.deleteRecursively(FOLDER);
        Files.createDirectories(FOLDER);
        Map<String, String> settings = new LinkedHashMap<>(Traffic.settings(FOLDER));
        settings.put("shop.form", "true");
        settings.put("shop.csrf", "true");
        browser = Browser.start();
        shop = Shop.start(settings);
        Traffic.send(shop);
        browser.logIn(Http.base(shop) + "/ratelimit/", "operator");
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

    /**
     * Keeps pictures of a screen, light, dark and on a phone. All text can be read, also aloud, and nothing sticks out to the
     * right.
     */
    private static void pictures(String name) {
        browser.run("document.getElementById('toast').textContent = ''");
        assertThat(browser.nameless()).as("elements of %s without a name", name).isEmpty();
        for (String scheme : List.of("light", "dark")) {
            browser.look(scheme, 1280);
            assertThat(browser.faintTexts()).as("%s, %s", name, scheme).isEmpty();
            browser.picture(name + "-" + scheme);
        }
        browser.look("light", 360);
        assertThat(browser.overflow()).as("pixels beyond the width of a phone").isLessThanOrEqualTo(0);
        browser.picture(name + "-phone");
        browser.look("light", 1280);
    }

    @Test
    @Order(1)
    @DisplayName("Now shows requests over time, the most denied and busiest subjects, penalties and this instance")
    void now() throws IOException {
        browser.screen("now", "Most denied");
        browser.awaitText("user:" + Traffic.SCRIPT);
        browser.await(
                "bars",
                () -> !browser.all(".chart .allowed").isEmpty()
                        && !browser.all(".chart .denied").isEmpty());
        browser.awaitText("user:mallory");
        String text = browser.text();
        assertThat(text)
                .contains("shop", "All requests", "Allowed", "Denied", "Busiest", "Active penalties", "This instance")
                .contains("closed")
                .contains("operator");
        assertThat(browser.all("script[src]")).as("scripts of the page").hasSize(1);
        pictures("now");
        if (!Traffic.PICTURE.isEmpty()) {
            Files.copy(browser.picture("readme"), Path.of(Traffic.PICTURE), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @Test
    @Order(2)
    @DisplayName("The chart is read with the arrow keys, and as a table; days and hours can be chosen")
    void chart() {
        browser.screen("now", "As a table");
        WebElement chart = browser.find(".chart");
        chart.sendKeys(Keys.END);
        browser.await(
                "the last minute", () -> browser.find(".readout").getText().matches("\\d\\d:\\d\\d: .*allowed.*"));
        browser.find(".as-table summary").click();
        browser.await("the table", () -> browser.find(".as-table table").isDisplayed());
        browser.press("24 hours");
        browser.await(
                "hours",
                () -> browser.find(".chart").getDomAttribute("aria-label").contains("each hour"));
        browser.press("30 days");
        browser.await(
                "days",
                () -> browser.find(".chart").getDomAttribute("aria-label").contains("each day"));
        browser.press("Last hour");
        browser.await(
                "minutes",
                () -> browser.find(".chart").getDomAttribute("aria-label").contains("each minute"));
    }

    @Test
    @Order(3)
    @DisplayName(
            "Limits shows each limit with its use, the trial beside it, violations of a day, and the rules in order")
    void limits() {
        browser.screen("limits", "Rules, in the order of evaluation");
        browser.awaitText("trial");
        assertThat(browser.text()).contains("orders", "burst", "search", "Configuration", "/api/orders/*");
        browser.await("violations", () -> violations().stream().anyMatch(row -> row.startsWith("search")));
        assertThat(violations()).anyMatch(row -> row.matches("search\\s+2\\s+1\\s+2"));
        pictures("limits");
    }

    /** The rows of violations, the most violated limit first. */
    @SuppressWarnings("unchecked")
    private static List<String> violations() {
        return (List<String>) browser.run("return [...document.querySelectorAll("
                + "'section[aria-labelledby^=\"h-violations\"] tbody tr')].map(row => row.innerText)");
    }

    @Test
    @Order(4)
    @DisplayName("A limit is raised with the keyboard alone, and an invalid number is shown beside its field")
    void keyboard() {
        browser.go("about:blank");
        browser.go(Http.base(shop) + "/ratelimit/");
        browser.awaitText("Most denied");
        browser.keys(Keys.TAB);
        assertThat(browser.run("return document.activeElement.textContent")).isEqualTo("Skip to content");
        browser.tabTo(".tabs a[href='#/limits']");
        browser.keys(Keys.ENTER);
        browser.awaitText("Rules, in the order of evaluation");
        browser.tabTo("button[aria-label='Raise orders']");
        browser.keys(Keys.ENTER);
        browser.awaitText("Raise orders");
        assertThat(browser.run("return document.activeElement.value")).isEqualTo("40");

        browser.replace("many");
        browser.tabTo("#f-reason");
        browser.keys("launch day", Keys.ENTER);
        browser.await("the mistake", () -> browser.all("[aria-invalid]").size() == 1);
        assertThat(browser.find("[data-field='p:max-requests'] .error").getText())
                .isNotEmpty();
        assertThat(browser.run("return document.activeElement.name")).isEqualTo("p:max-requests");

        browser.replace("60", Keys.ENTER);
        browser.awaitText("orders is raised.");
        browser.awaitText("Version 1, by operator");
        assertThat(browser.run("return document.activeElement.getAttribute('aria-label')"))
                .as("the focus is where it was before the dialog")
                .isEqualTo("Raise orders");
        browser.complaints(); // The browser reports the refused number.
    }

    @Test
    @Order(5)
    @DisplayName("A change of a limit during a raise ends with the raise, unless the operator chooses otherwise")
    void changeDuringARaise() {
        browser.screen("limits/orders", "History");
        browser.awaitText("launch day");
        browser.press("Change …");
        browser.awaitText("The values in force are temporary");
        assertThat(browser.run("return document.getElementById('f-for').value")).isEqualTo("moment");
        for (String scheme : List.of("light", "dark")) {
            browser.look(scheme, 1280);
            assertThat(browser.faintTexts()).as("dialog, %s", scheme).isEmpty();
            browser.picture("change-" + scheme);
        }
        browser.look("light", 1280);
        String raised = String.valueOf(
                shop.getBean(Operations.class).limit("orders").source().change().until());
        browser.find("[name='p:max-requests']").clear();
        browser.type("[name='p:max-requests']", "61");
        browser.type("#f-reason", "a little more");
        browser.press("Save");
        browser.awaitText("a little more");

        LimitView orders = shop.getBean(Operations.class).limit("orders");
        assertThat(orders.sentence()).contains("61");
        assertThat(orders.source().change().until())
                .isEqualTo(Instant.parse(raised).truncatedTo(ChronoUnit.SECONDS));
    }

    @Test
    @Order(6)
    @DisplayName("The history of a limit shows the difference, and a version is rolled back after showing its effect")
    void history() {
        browser.screen("limits/orders", "History");
        browser.awaitText("launch day");
        assertThat(browser.text()).contains("in force", "Trial beside live");
        pictures("limit");
        browser.press("24 hours");
        browser.await(
                "hours of this limit",
                () -> browser.find(".chart").getDomAttribute("aria-label").contains("each hour"));
        browser.press("Return to the configuration …");
        browser.type("#f-reason", "the launch is over");
        browser.press("Return to the configuration");
        browser.awaitText("back to the configuration");
        browser.press("Roll back …");
        browser.awaitText("Roll orders back");
        for (String scheme : List.of("light", "dark")) {
            browser.look(scheme, 1280);
            assertThat(browser.faintTexts()).as("dialog, %s", scheme).isEmpty();
        }
        browser.picture("roll-back-dark");
        browser.type("#f-reason", "another launch");
        browser.press("Roll back");
        browser.awaitText("another launch");
    }

    @Test
    @Order(7)
    @DisplayName(
            "Subjects finds a subject, and shows every limit, the quota, the penalty with a countdown, and its requests")
    void subjects() {
        browser.screen("subjects", "User, address or API key");
        browser.type("#search", "mall" + Keys.ENTER);
        browser.awaitText("user:mallory");
        assertThat(browser.all(".found a").stream().map(WebElement::getText))
                .as("found by the beginning, and the name as it was written, which may have no count")
                .containsExactly("user:mallory", "user:mall");
        browser.find(".found a").click();
        browser.awaitText("penalty");
        assertThat(browser.text()).contains("search", "quota:day", "blocked", "Recent requests", "/api/search/{id}");
        assertThat(now("section[aria-labelledby=h-limits] tbody th"))
                .as("the limit that denies")
                .isEqualTo("search");
        browser.await("its requests", () -> !browser.all("svg.chart .denied").isEmpty());
        assertThat(browser.find("select[aria-label='Limit to show']").getDomProperty("value"))
                .as("the limit with the most denials")
                .isEqualTo("search");
        assertThat(now(".readout").replace('\u00a0', ' ')).isEqualTo("3 allowed, 4 denied (57 %)");
        assertThat(browser.text()).contains("Only the times in which it was denied");
        browser.press("24 hours");
        browser.await(
                "hours of this subject",
                () -> browser.find(".chart").getDomAttribute("aria-label").contains("each hour"));
        browser.press("Last hour");
        String left = now("[data-until]");
        browser.await("the countdown", () -> !now("[data-until]").equals(left));
        pictures("subject");

        browser.press("Block …");
        browser.type("#f-reason", "guesses");
        browser.press("Block");
        browser.awaitText("Blocked for another");
        browser.press("Unblock …");
        browser.type("#f-reason", "apologised");
        browser.press("Unblock");
        browser.await("no block", () -> !browser.text().contains("Blocked for another"));
        browser.press("Reset all limits …");
        browser.type("#f-reason", "apologised");
        browser.press("Reset");
        browser.await(
                "no penalty",
                () -> browser.all("[data-until][title]").isEmpty()
                        || !browser.text().contains("violations"));
    }

    /** The text of an element that newer data may replace at any moment. */
    private static String now(String selector) {
        return String.valueOf(browser.run("return document.querySelector(arguments[0]).textContent", selector));
    }

    @Test
    @Order(8)
    @DisplayName("A user named <script> is text, in tables, links, headings and titles")
    void script() {
        browser.screen(
                "subjects/" + URLEncoder.encode("user:" + Traffic.SCRIPT, StandardCharsets.UTF_8), "Recent requests");
        browser.awaitText("user:" + Traffic.SCRIPT);
        assertThat(browser.find("h1.text").getText()).isEqualTo("user:" + Traffic.SCRIPT);
        assertThat(browser.all("main script")).isEmpty();
        assertThat(browser.run("return document.title")).asString().contains(Traffic.SCRIPT);
    }

    @Test
    @Order(9)
    @DisplayName("Explain says why, for a request that is described and for a curl line")
    void explain() {
        browser.screen("explain", "Describe a request");
        browser.type("#e-path", "/api/orders/7");
        browser.type("#e-user", "bob");
        browser.press("Explain");
        browser.awaitText("apply");
        assertThat(browser.text()).contains("GET /api/orders/7", "user:bob", "burst");
        pictures("explain");
        browser.type("#e-curl", "curl -X POST -u alice:secret https://shop.example/api/search/books");
        browser.press("Explain curl line");
        browser.awaitText("POST /api/search/books");
        assertThat(browser.text()).contains("user:alice").doesNotContain("secret https");
    }

    @Test
    @Order(10)
    @DisplayName("Changes says who changed what, when and why")
    void changes() {
        browser.screen("changes", "launch day");
        assertThat(browser.text()).contains("operator", "another launch", "guesses");
        assertThat(browser.all("td a[href='#/limits/search']"))
                .as("each limit on which a subject was reset")
                .isNotEmpty();
        assertThat(browser.all("td a[href*='%2C']")).isEmpty();
        browser.type("#filter", "another");
        browser.await("only one", () -> !browser.text().contains("guesses"));
        browser.type("#filter", "");
        browser.keys(" ", Keys.BACK_SPACE);
        browser.awaitText("guesses");
        pictures("changes");
    }

    @Test
    @Order(11)
    @DisplayName("When calls fail, the page says how old its data is, and goes on when they succeed again")
    void stale() {
        browser.screen("now", "Most denied");
        browser.run("window.realFetch = window.fetch; window.fetch = () => Promise.reject(new TypeError('gone'))");
        browser.awaitText("The application cannot be reached. The data is");
        browser.run("window.fetch = window.realFetch; document.dispatchEvent(new Event('visibilitychange'))");
        browser.await("fresh data", () -> !browser.find("#stale").isDisplayed());
    }

    @Test
    @Order(12)
    @DisplayName("A viewer sees everything and no button that changes something")
    void viewer() {
        try (Browser other = Browser.start()) {
            other.logIn(Http.base(shop) + "/ratelimit/", "viewer");
            other.awaitText("viewer, may look");
            for (Map.Entry<String, String> screen : Map.of(
                            "now", "Most denied",
                            "limits", "/api/orders/*",
                            "limits/orders", "another launch",
                            "subjects/user%3Amallory", "Recent requests",
                            "changes", "another launch")
                    .entrySet()) {
                other.screen(screen.getKey(), screen.getValue());
                assertThat(other.all("main button").stream().map(WebElement::getText))
                        .as(screen.getKey())
                        .allMatch(text -> text.matches("All requests|Last hour|24 hours|30 days|Search|Show \\d+"));
            }
            assertThat(other.complaints()).isEmpty();
        }
    }

    @Test
    @Order(13)
    @DisplayName("Now shows eight subjects, and the rest on demand; a long name hides neither numbers nor buttons")
    void manySubjects() {
        for (int i = 0; i < 12; i++) {
            Traffic.repeat(6, Http.at(shop).as("attacker" + "x".repeat(12 * i)), "/api/search/" + i);
        }
        browser.screen("now", "Most denied");
        String more = "[data-key='more Most denied']";
        String list = "section:has(" + more + ")";
        browser.await(
                "the attackers",
                () -> browser.all(more).stream()
                        .anyMatch(button -> button.getText().matches("Show 1[2-9]")));
        assertThat(browser.all(list + " tbody tr")).hasSize(8);

        browser.tabTo(more);
        browser.keys(Keys.ENTER);
        browser.await("all of them", () -> browser.all(list + " tbody tr").size() >= 12);
        assertThat(browser.find(more).getText()).isEqualTo("Show 8");
        assertThat(browser.run("return document.activeElement.dataset.key")).isEqualTo("more Most denied");
        assertThat(browser.run("return [...document.querySelectorAll('.scroll')]"
                        + ".filter(table => table.scrollWidth > table.clientWidth).length"))
                .as("tables that are wider than their card")
                .isEqualTo(0L);
        pictures("many-subjects");

        browser.keys(Keys.ENTER);
        browser.await("few again", () -> browser.all(list + " tbody tr").size() == 8);
    }

    @Test
    @Order(14)
    @DisplayName("The page also works if its address has a user and a password")
    void addressWithPassword() {
        browser.go(Http.base(shop).replace("://", "://operator:operator@") + "/ratelimit/");
        browser.awaitText("Most denied");
    }

    @Test
    @Order(15)
    @DisplayName("Days are those of UTC, also in a browser west of it, where they begin on the evening before")
    void days() {
        browser.zone("America/Los_Angeles");
        try {
            browser.screen("limits", "Rules, in the order of evaluation");
            browser.screen("now", "As a table");
            browser.press("30 days");
            browser.await(
                    "days",
                    () -> browser.find(".chart").getDomAttribute("aria-label").contains("each day"));
            String before = todayInUtc();
            browser.find(".chart").sendKeys(Keys.END);
            browser.await(
                    "the last day", () -> browser.find(".readout").getText().contains("(UTC)"));

            assertThat(browser.find(".readout").getText().replaceFirst(" \\(UTC\\):.*", ""))
                    .isIn(before, todayInUtc());
        } finally {
            browser.zone("");
        }
    }

    private static String todayInUtc() {
        return DateTimeFormatter.ofPattern("MMM d", Locale.ENGLISH).format(LocalDate.now(ZoneOffset.UTC));
    }

    @Test
    @Order(16)
    @DisplayName(
            "Markup is text on every screen and in dialogs, whether a client, an operator or a row of a table has it")
    void markup() {
        Change change = Change.by("<b>ops</b>").because("because of " + MARKUP);
        RateLimitAdmin admin = shop.getBean(RateLimitAdmin.class);
        admin.quotas().block(MARKUP, change);
        admin.keys().create(NewApiKey.of("key " + MARKUP, MARKUP), change);
        admin.limits().set("search", Map.of("max-requests", "4"), change);
        new JdbcTemplate(SqliteFile.at(FOLDER.resolve("limits.db")).dataSource())
                .update(
                        "INSERT INTO rate_limit_configs (resource, version, definition) VALUES ('broken', 1, ?)",
                        "algorithm: fixed-window\nwindow: 1h\nmax-requests: " + MARKUP);
        Traffic.repeat(7, Http.at(shop).as("<i>eve</i>"), "/api/search/1");
        Http.at(shop).as(MARKUP).get("/api/search/2");

        browser.screen("now", "A stored row is invalid and skipped");
        browser.awaitText("user:<i>eve</i>");
        assertMarkupIsText(MARKUP);
        browser.find("button[aria-label='End the penalty of user:<i>eve</i> on search']")
                .click();
        browser.awaitText("Reset user:<i>eve</i> on search");
        assertMarkupIsText("<i>eve</i>");
        browser.press("Cancel");
        browser.screen("limits/search", "because of");
        assertMarkupIsText("because of " + MARKUP, "<b>ops</b>");
        browser.screen("subjects/" + encoded("user:" + MARKUP), "Blocked");
        browser.awaitText("Recent requests");
        assertMarkupIsText("user:" + MARKUP, "because of " + MARKUP, "key " + MARKUP);
        browser.screen("changes", "because of");
        assertMarkupIsText(MARKUP, "<b>ops</b>");
        browser.screen("explain", "Describe a request");
        browser.type("#e-path", "/" + MARKUP);
        browser.type("#e-user", MARKUP);
        browser.press("Explain");
        browser.awaitText("it is blocked");
        assertMarkupIsText("GET /" + MARKUP);
        browser.screen("subjects", "User, address or API key");
        browser.type("#search", MARKUP + Keys.ENTER);
        browser.awaitText("Found");
        assertMarkupIsText("user:" + MARKUP);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** An element that the page makes itself is none of these. */
    private static void assertMarkupIsText(String... texts) {
        for (String text : texts) {
            browser.awaitText(text);
        }
        assertThat(browser.all("main img, main script, main b, main i, dialog i, dialog b, dialog img"))
                .isEmpty();
    }
}
