package dev.ratelimit.sample;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.support.ui.WebDriverWait;
import org.springframework.util.FileSystemUtils;

/** The sample's page in a real browser that shows nothing on a screen. */
final class Browser implements AutoCloseable {

    private static final List<String> BROWSERS =
            List.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome");
    private static final List<String> DRIVERS =
            List.of("/usr/bin/chromedriver", "/usr/lib/chromium-browser/chromedriver", "/usr/local/bin/chromedriver");

    /** Notes when each button is disabled and enabled, on the page's own clock. */
    private static final String WATCH_BUTTONS = """
            window.switched = {};
            new MutationObserver(changes => changes.forEach(({ target }) =>
              (window.switched[target.id] ??= []).push(performance.now())))
              .observe(document.body, { subtree: true, attributeFilter: ['disabled'] });
            """;

    private final ChromeDriver driver;
    private final Path profile;

    private Browser(ChromeDriver driver, Path profile) {
        this.driver = driver;
        this.profile = profile;
    }

    /** Opens the page; skips the test where there is no Chromium or no driver for it. Nothing is downloaded. */
    static Browser open(String url) {
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
                    "--window-size=1280,1000",
                    "--user-data-dir=" + profile);
            ChromeDriverService service = new ChromeDriverService.Builder()
                    .usingDriverExecutable(new File(chromedriver.get()))
                    .usingAnyFreePort()
                    .build();
            Browser page = new Browser(new ChromeDriver(service, options), profile);
            page.go(url);
            return page;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<String> firstOf(List<String> paths) {
        return Stream.of(paths)
                .flatMap(List::stream)
                .filter(path -> Files.isExecutable(Path.of(path)))
                .findFirst();
    }

    void go(String url) {
        driver.get(url + "/");
        driver.executeScript(WATCH_BUTTONS);
    }

    WebElement button(String endpoint) {
        return driver.findElement(By.id("send-" + endpoint));
    }

    /** Presses the button and waits for the answer. */
    void press(String endpoint) {
        driver.executeScript("window.switched = {}");
        button(endpoint).click();
        WebElement answer = driver.findElement(By.id("answer"));
        await("an answer of " + endpoint, () -> "false".equals(answer.getDomAttribute("aria-busy")));
    }

    /** The text beside the button. */
    String path(String endpoint) {
        return driver.findElement(By.cssSelector(".endpoint:has(#send-" + endpoint + ") code"))
                .getText();
    }

    /** Chooses a user or a number of requests. */
    void choose(String name, String value) {
        driver.findElement(By.cssSelector("input[name='" + name + "'][value='" + value + "'] + span"))
                .click();
    }

    void type(String field, String value) {
        WebElement input = driver.findElement(By.id(field));
        input.clear();
        input.sendKeys(value);
    }

    /** Types it, and says that it is all. */
    void enter(String field, String value) {
        type(field, value);
        driver.findElement(By.id(field)).sendKeys(Keys.ENTER);
    }

    String text(String id) {
        return driver.findElement(By.id(id)).getText();
    }

    /** The announcement of the last answer, which only screen readers show. */
    String said() {
        return driver.findElement(By.id("said")).getDomProperty("textContent");
    }

    /** How many milliseconds lie between the press that disabled the button and when it was last enabled. */
    long restedFor(String endpoint) {
        Number millis = (Number) driver.executeScript(
                "const times = window.switched[arguments[0]]; return times.at(-1) - times[0]", "send-" + endpoint);
        return (long) Math.ceil(millis.doubleValue());
    }

    /** A header of the answer that is shown. */
    String header(String name) {
        return driver.findElement(By.xpath("//table[@id='headers']//tr[th='" + name + "']/td"))
                .getText();
    }

    boolean isShown(String id) {
        return driver.findElement(By.id(id)).isDisplayed();
    }

    void await(String what, BooleanSupplier condition) {
        new WebDriverWait(driver, Duration.ofSeconds(30), Duration.ofMillis(100))
                .withMessage(what)
                .ignoring(StaleElementReferenceException.class) // the page has replaced it meanwhile
                .until(unused -> condition.getAsBoolean());
    }

    /** The complaints of the browser: scripts that failed, resources that were refused. */
    List<String> complaints() {
        return driver.manage().logs().get("browser").getAll().stream()
                .map(Object::toString)
                .filter(line -> !line.contains("Failed to load resource: the server responded with a status of 4"))
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
