package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The page in a real browser, on a clock that runs. */
class PageTest extends RunningSample {

    private static Browser page;

    @BeforeEach
    void open() {
        clock.run();
        if (page == null) {
            page = Browser.open(sample.base());
        } else {
            page.go(sample.base());
        }
    }

    @AfterAll
    static void close() {
        if (page != null) {
            page.close();
            page = null;
        }
    }

    @Test
    @DisplayName("Every endpoint can be pressed, and its answer is shown with its headers")
    void everyEndpointCanBePressed() {
        String[][] endpoints = {
            {"campaigns", "200 OK"},
            {"posts", "200 OK"},
            {"post", "201 Created"},
            {"edit", "200 OK"},
            {"delete", "204 No Content"},
            {"turn", "201 Created"},
            {"create-campaign", "201 Created"},
            {"create-scene", "201 Created"},
            {"avatar", "201 Created"},
            {"scene-header", "201 Created"},
            {"acquire", "200 OK"},
            {"join", "200 OK"},
        };
        page.choose("user", "alice");
        for (String[] endpoint : endpoints) {
            String path = page.path(endpoint[0]);
            page.press(endpoint[0]);
            assertThat(page.text("request")).endsWith(path);
            assertThat(page.text("status")).as(path).isEqualTo(endpoint[1]);
            assertThat(page.text("headers"))
                    .contains("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-policy");
        }
        // At least five seconds after the other of the two.
        pass(Duration.ofSeconds(5));
        page.await("release may be pressed", () -> page.button("release").isEnabled());
        page.press("release");
        assertThat(page.text("request")).isEqualTo("DELETE /api/scenes/1/compose-lock/release");
        assertThat(page.text("status")).isEqualTo("204 No Content");
        page.type("username", "bob");
        page.type("password", "wrong");
        page.press("login");
        assertThat(page.text("status")).isEqualTo("401 Unauthorized");
        page.type("password", "bob");
        page.press("login");
        assertThat(page.text("status")).isEqualTo("200 OK");
        assertThat(page.text("body")).contains("\"user\": \"bob\"");
        assertThat(page.complaints()).isEmpty();
    }

    @Test
    @DisplayName("A button that was answered with 429 is disabled until Retry-After has passed")
    void deniedButtonIsDisabledUntilRetryAfterHasPassed() {
        page.choose("user", "alice");
        sample.acquireComposeLock("alice");
        page.press("acquire");
        assertThat(page.text("status")).isEqualTo("429 Too Many Requests");

        int retryAfter = Integer.parseInt(page.header("retry-after"));
        assertThat(retryAfter).isBetween(1, 5);
        assertThat(page.said())
                .startsWith("POST /api/scenes/1/compose-lock/acquire as alice: 429. Try again in " + retryAfter
                        + (retryAfter == 1 ? " second." : " seconds."));
        assertThat(page.button("acquire").isEnabled()).isFalse();
        assertThat(page.button("acquire").getText()).matches("Try again in [1-5] seconds?");
        assertThat(page.button("release").isEnabled()).as("shares the limit").isFalse();
        assertThat(page.button("campaigns").isEnabled()).isTrue();
        page.choose("user", "bob");
        page.await("bob may press it", () -> page.button("acquire").isEnabled());
        page.choose("user", "alice");

        page.await("it is enabled again", () -> page.button("acquire").isEnabled());
        assertThat(page.restedFor("acquire"))
                .as("milliseconds by the clock of the page")
                .isGreaterThanOrEqualTo(retryAfter * 1000L);
        assertThat(page.button("acquire").getText()).isEqualTo("Send");
        page.press("acquire");
        assertThat(page.text("status")).isEqualTo("200 OK");
    }

    @Test
    @DisplayName("After the compose lock was acquired, both its buttons rest for five seconds and say so")
    void composeLockRestsAfterSuccess() {
        page.choose("user", "alice");
        page.press("acquire");
        assertThat(page.text("status")).isEqualTo("200 OK");
        for (String button : List.of("acquire", "release")) {
            assertThat(page.button(button).isEnabled()).isFalse();
            assertThat(page.button(button).getText()).matches("Try again in [1-5] seconds?");
        }
        page.await("it may be released", () -> page.button("release").isEnabled());
        assertThat(page.button("release").getText()).isEqualTo("Send");
        page.press("release");
        assertThat(page.text("status")).as("five seconds have passed").isEqualTo("204 No Content");
        assertThat(page.button("acquire").isEnabled()).isFalse();

        page.choose("user", "admin");
        page.await("admin may press it", () -> page.button("acquire").isEnabled());
        page.press("acquire");
        assertThat(page.text("status")).isEqualTo("200 OK");
        assertThat(page.button("release").isEnabled())
                .as("no limit applies to admin")
                .isTrue();
        page.press("release");
        assertThat(page.text("status")).isEqualTo("204 No Content");
    }

    @Test
    @DisplayName("A penalty is shown for the name that the page logs in with")
    void penaltyIsShownForTheName() {
        page.enter("username", "bob");
        page.await("bob's guesses", () -> page.text("groups").contains("Login as bob"));
        assertThat(page.text("usage-login")).contains("5 of 5");
        page.type("password", "wrong");
        for (int i = 0; i < 6; i++) {
            page.press("login");
        }
        assertThat(page.text("status")).isEqualTo("429 Too Many Requests");
        page.await("the penalty", () -> page.text("usage-login").matches("(?s).*blocked for [45]:\\d\\d min"));

        page.enter("username", "alice");
        page.await("alice's guesses", () -> page.text("groups").contains("Login as alice"));
        assertThat(page.text("usage-login")).contains("5 of 5").doesNotContain("blocked");
        assertThat(page.complaints()).isEmpty();
    }

    @Test
    @DisplayName("A warning is shown when 5 or fewer requests remain, and a countdown to the reset")
    void warningWhenFewRemainAndCountdown() {
        page.choose("user", "alice");
        page.press("campaigns");
        assertThat(page.text("status")).isEqualTo("200 OK");
        assertThat(page.isShown("warning")).as("nine remain").isFalse();

        stopClock(); // so that nothing is refilled between two
        while (Integer.parseInt(page.text("remaining")) > 6) {
            page.press("campaigns");
        }
        assertThat(page.text("remaining")).isEqualTo("6");
        assertThat(page.isShown("warning")).as("six remain").isFalse();
        page.press("campaigns");
        assertThat(page.text("remaining")).isEqualTo("5");
        assertThat(page.text("warning")).contains("Rate limit warning", "5 requests remain.");
        assertThat(seconds(page.text("countdown"))).isBetween(1, 10);
        clock.run();

        page.choose("times", "15");
        page.press("campaigns");
        assertThat(page.text("status")).isEqualTo("429 Too Many Requests");

        assertThat(page.text("summary")).startsWith("15 at once:");
        assertThat(page.text("remaining")).isEqualTo("0");
        assertThat(page.text("warning")).contains("Rate limit exceeded", "No requests remain. Try again in ");
        int left = seconds(page.text("countdown"));
        assertThat(left).isBetween(1, 10);
        page.await("the countdown goes on", () -> seconds(page.text("countdown")) < left);
        page.await("and ends", () -> page.text("countdown").equals("now"));
        assertThat(page.isShown("warning")).isFalse();
    }

    private static int seconds(String countdown) {
        return countdown.equals("now") ? 0 : Integer.parseInt(countdown.replace(" s", ""));
    }

    @Test
    @DisplayName("The page shows the administrator that no limit applies")
    void administratorIsNotLimited() {
        page.choose("user", "admin");
        page.choose("times", "15");
        page.press("posts");
        assertThat(page.text("status")).isEqualTo("200 OK");

        assertThat(page.text("summary")).isEqualTo("15 at once: 15 passed, 0 denied.");
        assertThat(page.text("unlimited")).isEqualTo("No limit applies to this request.");
    }

    @Test
    @DisplayName("The page shows the remaining requests of each caller, and updates them after each press")
    void whatRemainsIsShown() {
        stopClock(); // so that nothing is refilled between two
        page.choose("user", "alice");
        page.await("what remains to alice", () -> page.text("caller").equals("alice"));
        assertThat(page.text("tier")).isEqualTo("free");
        assertThat(page.text("usage-reads")).contains("10 of 10");
        assertThat(page.text("usage-day")).contains("1,000 of 1K", "0 used");

        page.press("turn");
        page.await("a turn less", () -> page.text("usage-turns").contains("2 of 3"));
        assertThat(page.text("usage-turns")).matches("(?s).*full in [1-6] s");
        assertThat(page.text("usage-day")).contains("999 of 1K", "1 used");
        assertThat(page.text("usage-reads")).as("asking is no read").contains("10 of 10");

        page.choose("user", "admin");
        page.await("that nothing applies", () -> page.text("usage-note").equals("No limit applies to this caller."));
        assertThat(page.complaints()).isEmpty();
    }

    @Test
    @DisplayName("An API key brings its tier, and one that is not known is refused")
    void apiKeyBringsItsTier() {
        page.enter("api-key", keyOf("premium", "bob"));
        page.await("the tier of the key", () -> page.text("tier").equals("premium"));
        assertThat(page.text("caller")).isEqualTo("bob");
        assertThat(page.text("usage-reads")).contains("20 of 20");

        page.choose("times", "15");
        page.press("campaigns");
        assertThat(page.text("summary")).isEqualTo("15 at once: 15 passed, 0 denied.");
        assertThat(page.text("who")).isEqualTo("with API key");
        assertThat(page.said()).startsWith("GET /api/campaigns with API key: 200. 15 passed, 0 denied.");

        page.choose("times", "1");
        page.enter("api-key", "rl_nobody_knows");
        page.await("that it is not known", () -> page.text("usage-note").equals("This API key is not known."));
        page.press("campaigns");
        assertThat(page.text("status")).isEqualTo("401 Unauthorized");

        page.enter("api-key", "");
        page.await("what remains to the address", () -> page.text("caller").equals("127.0.0.1"));
        assertThat(page.text("tier")).isEqualTo("free");
        assertThat(page.complaints()).isEmpty();
    }
}
