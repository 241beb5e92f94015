package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.support.ui.WebDriverWait;
import org.springframework.util.FileSystemUtils;

/** The dashboard in a real browser that shows nothing on a screen. */
final class Browser implements AutoCloseable {

    private static final List<String> BROWSERS =
            List.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome");
    private static final List<String> DRIVERS =
            List.of("/usr/bin/chromedriver", "/usr/lib/chromium-browser/chromedriver", "/usr/local/bin/chromedriver");
    private static final Path SCREENSHOTS = Path.of("target/screenshots");

    /** Roles of elements that a person acts on, or that stand for something. */
    private static final Set<String> NAMED = Set.of(
            "button", "link", "textbox", "searchbox", "combobox", "checkbox", "image", "table", "dialog", "region");

    /**
     * Looks at every text that is shown. Its ground is made of the backgrounds of the elements around it, from the outside in; half
     * transparent ones and opacity are mixed. Buttons that cannot be pressed are left out, as WCAG does.
     */
    private static final String CONTRAST = """
            const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
            const parse = text => {
              canvas.clearRect(0, 0, 1, 1);
              canvas.fillStyle = text;
              canvas.fillRect(0, 0, 1, 1);
              const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
              return [r, g, b, a / 255];
            };
            const over = (top, below, opacity = 1) => {
              const a = top[3] * opacity;
              return [0, 1, 2].map(i => top[i] * a + below[i] * (1 - a)).concat(1);
            };
            const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
              .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
              .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const ratio = (one, other) => {
              const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
              return (high + 0.05) / (low + 0.05);
            };
            const dialog = document.querySelector('dialog[open]');
            const found = new Map();
            const look = (element, text, pseudo) => {
              const style = getComputedStyle(element, pseudo);
              let ground = parse(getComputedStyle(document.documentElement).colorScheme.includes('dark')
                && matchMedia('(prefers-color-scheme: dark)').matches ? '#121212' : '#ffffff');
              let opacity = 1;
              const around = [];
              for (let at = element; at; at = at.parentElement) {
                around.unshift(getComputedStyle(at));
              }
              for (const part of around) {
                ground = over(parse(part.backgroundColor), ground);
                opacity *= Number(part.opacity);
              }
              const colour = parse(element instanceof SVGElement ? style.fill : style.color);
              const got = ratio(over(colour, ground, opacity), ground);
              if (got < 4.5) {
                found.set(`${element.tagName}.${element.getAttribute('class') ?? ''} ${style.color} ${ground}`,
                  `"${text.trim().slice(0, 40)}" ${got.toFixed(2)} in ${element.tagName} .${element.getAttribute('class') ?? ''}`);
              }
            };
            const texts = document.createTreeWalker(dialog ?? document.body, NodeFilter.SHOW_TEXT);
            let seen = 0;
            while (texts.nextNode()) {
              const text = texts.currentNode;
              const element = text.parentElement;
              if (!text.data.trim() || !element.checkVisibility() || element.closest(':disabled, .hidden, .skip, title, script, style')) {
                continue;
              }
              seen++;
              look(element, text.data);
            }
            for (const field of (dialog ?? document).querySelectorAll('input[placeholder], textarea[placeholder]')) {
              look(field, field.placeholder, '::placeholder');
            }
            for (const element of (dialog ?? document.body).querySelectorAll('*')) {
              for (const pseudo of ['::before', '::after']) {
                const content = getComputedStyle(element, pseudo).content;
                if (/^".*[^\\s"].*"$/.test(content) && element.checkVisibility()) {
                  look(element, content, pseudo);
                }
              }
            }
            return seen === 0 ? ['no text is shown'] : [...found.values()];
            """;

    private final ChromeDriver driver;
    private final Path profile;

    private Browser(ChromeDriver driver, Path profile) {
        this.driver = driver;
        this.profile = profile;
    }

    /** Starts it; skips the test where there is no Chromium or no driver for it. Nothing is downloaded. */
    static Browser start() {
        Optional<String> browser = firstOf(BROWSERS);
        Optional<String> chromedriver = firstOf(DRIVERS);
        assumeTrue(
                browser.isPresent() && chromedriver.isPresent(),
                () -> "skipped: no Chromium with its driver; on Debian: apt-get install chromium chromium-driver"
                        + " (browser: " + browser.orElse("none") + ", driver: " + chromedriver.orElse("none") + ")");
        try {
            Path profile = Files.createTempDirectory("browser");
            ChromeOptions options = new ChromeOptions();
            options.setBinary(browser.get());
            options.addArguments(
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-dev-shm-usage",
                    "--disable-quic",
                    "--no-first-run",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync",
                    "--hide-scrollbars",
                    "--window-size=1280,1000",
                    "--user-data-dir=" + profile);
            ChromeDriverService service = new ChromeDriverService.Builder()
                    .usingDriverExecutable(new File(chromedriver.get()))
                    .usingAnyFreePort()
                    .build();
            Files.createDirectories(SCREENSHOTS);
            return new Browser(new ChromeDriver(service, options), profile);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<String> firstOf(List<String> paths) {
        return paths.stream().filter(path -> Files.isExecutable(Path.of(path))).findFirst();
    }

    /** Sends the credentials of a user, whose password is the name, with each request. */
    Browser as(String user) {
        String credentials = Base64.getEncoder().encodeToString((user + ":" + user).getBytes(StandardCharsets.UTF_8));
        driver.executeCdpCommand("Network.enable", Map.of());
        driver.executeCdpCommand(
                "Network.setExtraHTTPHeaders", Map.of("headers", Map.of("Authorization", "Basic " + credentials)));
        return this;
    }

    /** Logs in with the form that the application sends. */
    void logIn(String url, String user) {
        driver.get(url);
        await("the login form", () -> !all("input[name=username]").isEmpty());
        find("input[name=username]").sendKeys(user);
        find("input[name=password]").sendKeys(user, Keys.ENTER);
        await("the dashboard", () -> !all(".tabs").isEmpty());
    }

    void go(String url) {
        driver.get(url);
    }

    /** Opens a screen of the dashboard that is open. */
    void screen(String hash, String expected) {
        run("location.hash = arguments[0]", "#/" + hash);
        awaitText(expected);
    }

    String url() {
        return driver.getCurrentUrl();
    }

    WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    List<WebElement> all(String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    /** Presses the button with that text. */
    void press(String text) {
        await("a button " + text, () -> {
            Optional<WebElement> button = all("button").stream()
                    .filter(one -> one.isDisplayed() && one.getText().equals(text))
                    .findFirst();
            button.ifPresent(WebElement::click);
            return button.isPresent();
        });
    }

    void type(String selector, String text) {
        WebElement field = find(selector);
        field.clear();
        field.sendKeys(text);
    }

    /** Sends keys to whatever has the focus. */
    void keys(CharSequence... keys) {
        new Actions(driver).sendKeys(keys).perform();
    }

    /** Replaces the text of the field that has the focus. */
    void replace(CharSequence... keys) {
        new Actions(driver)
                .keyDown(Keys.CONTROL)
                .sendKeys("a")
                .keyUp(Keys.CONTROL)
                .sendKeys(keys)
                .perform();
    }

    /** Presses tab until the focus is on an element that matches. */
    void tabTo(String selector) {
        for (int i = 0; i < 60; i++) {
            keys(Keys.TAB);
            if (Boolean.TRUE.equals(run("return document.activeElement.matches(arguments[0])", selector))) {
                return;
            }
        }
        throw new AssertionError("The tab key does not reach " + selector);
    }

    String text() {
        return String.valueOf(run("return document.body.innerText"));
    }

    Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    void awaitText(String text) {
        await("the text " + text, () -> text().contains(text));
    }

    void await(String what, BooleanSupplier condition) {
        new WebDriverWait(driver, Duration.ofSeconds(30), Duration.ofMillis(50))
                .ignoring(StaleElementReferenceException.class) // The page has just been updated.
                .withMessage(() -> what + "; the page shows: " + text() + complaints())
                .until(unused -> condition.getAsBoolean());
    }

    /** The width of the page beyond that of the window. */
    long overflow() {
        return ((Number) run("return document.documentElement.scrollWidth - window.innerWidth")).longValue();
    }

    /** Shows the page light or dark, in a width. */
    void look(String scheme, int width) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", width < 500));
    }

    /** Sets how much motion a person wants, such as {@code reduce}. The next {@link #look} forgets it. */
    void motion(String wish) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-reduced-motion", "value", wish))));
    }

    /** Moves the browser to a time zone, such as America/New_York; an empty name takes it back. */
    void zone(String name) {
        driver.executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", name));
    }

    /** Texts with less contrast to their ground than 4.5 to 1, as WCAG AA asks for, each with its colours. */
    @SuppressWarnings("unchecked")
    List<String> faintTexts() {
        return (List<String>) run(CONTRAST);
    }

    /** The roles of elements that a screen reader reaches and finds no name for. */
    @SuppressWarnings("unchecked")
    List<String> nameless() {
        List<Map<String, Object>> nodes =
                (List<Map<String, Object>>) driver.executeCdpCommand("Accessibility.getFullAXTree", Map.of())
                        .get("nodes");
        List<String> interactive = nodes.stream()
                .filter(node -> !Boolean.TRUE.equals(node.get("ignored")) && NAMED.contains(value(node, "role")))
                .map(node -> value(node, "role") + " " + value(node, "name"))
                .toList();
        assertThat(interactive).as("elements that need a name").isNotEmpty();
        return interactive.stream().filter(element -> element.endsWith(" ")).toList();
    }

    private static String value(Map<String, Object> node, String name) {
        return node.get(name) instanceof Map<?, ?> property && property.get("value") != null
                ? String.valueOf(property.get("value")).strip()
                : "";
    }

    /** Keeps a picture of the whole page in target/screenshots. */
    Path picture(String name) {
        run("window.scrollTo(0, 0)"); // The header stays at the top of what is seen.
        Object data = driver.executeCdpCommand(
                        "Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true))
                .get("data");
        Path file = SCREENSHOTS.resolve(name + ".png");
        try {
            Files.write(file, Base64.getDecoder().decode(String.valueOf(data)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    /** The complaints of the browser since the last call: scripts that failed, resources that the policy refused. */
    List<String> complaints() {
        return driver.manage().logs().get("browser").getAll().stream()
                .map(Object::toString)
                .toList();
    }

    @Override
    public void close() {
        driver.quit();
        try {
            FileSystemUtils.deleteRecursively(profile);
        } catch (IOException e) {
            // The browser may still be writing; the folder is a temporary one.
        }
    }
}
