package dev.ratelimit.dashboard;

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

    /** Keeps a picture of the whole page in target/screenshots. */
    Path picture(String name) {
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
