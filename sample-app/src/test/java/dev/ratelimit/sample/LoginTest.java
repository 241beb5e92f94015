package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.sample.Client.Answer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The answers of the sample to logins. */
class LoginTest extends RunningSample {

    /** Fails until it is denied, and says when to come back. */
    private Duration failUntilDenied(String name) {
        assertThat(Client.times(5, () -> sample.login(name, "wrong"))).containsOnly(401);
        Answer denied = sample.login(name, "wrong");
        assertThat(denied.status()).isEqualTo(429);
        assertThat(denied.body()).contains("\"penalty_active\":true", "abnormal-usage-detected");
        return Duration.ofSeconds(denied.number("Retry-After"));
    }

    @Test
    @DisplayName("5 failed logins per minute by address and name")
    void fiveFailedLoginsByAddressAndName() {
        failUntilDenied("alice");

        assertThat(sample.login("alice", "alice").status())
                .as("the right password does not help any more")
                .isEqualTo(429);
        assertThat(sample.login("bob", "wrong").status())
                .as("another name has its own count")
                .isEqualTo(401);
    }

    @Test
    @DisplayName("Failed logins in other letters count for the same name")
    void otherLettersAreTheSameName() {
        for (String name : List.of("alice", "Alice", "ALICE", "aLice", "alicE")) {
            assertThat(sample.login(name, "wrong").status()).isEqualTo(401);
        }

        assertThat(sample.login("AlicE", "wrong").status()).isEqualTo(429);
    }

    @Test
    @DisplayName("Only failed logins count")
    void onlyFailedLoginsCount() {
        assertThat(Client.times(20, () -> sample.login("alice", "alice"))).containsOnly(200);
        assertThat(Client.times(4, () -> sample.login("bob", "wrong"))).containsOnly(401);
    }

    @Test
    @DisplayName("A successful login does not clear earlier failures")
    void successClearsNothing() {
        assertThat(Client.times(4, () -> sample.login("alice", "wrong"))).containsOnly(401);
        assertThat(Client.times(3, () -> sample.login("alice", "alice"))).containsOnly(200);

        assertThat(sample.login("alice", "wrong").status()).isEqualTo(401);
        assertThat(sample.login("alice", "wrong").status()).isEqualTo(429);
    }

    @Test
    @DisplayName("Penalties of 5 minutes, 30 minutes and 2 hours after 1, 3 and 5 violations")
    void penaltiesGrow() {
        List<Duration> expected = List.of(
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                Duration.ofMinutes(30),
                Duration.ofMinutes(30),
                Duration.ofHours(2));

        for (Duration penalty : expected) {
            assertThat(failUntilDenied("alice")).isEqualTo(penalty);
            pass(penalty.minusMillis(1));
            assertThat(sample.login("alice", "alice").status()).isEqualTo(429);
            pass(Duration.ofMillis(1));
        }

        assertThat(sample.login("alice", "alice").status()).isEqualTo(200);
        pass(Duration.ofDays(1));
        assertThat(failUntilDenied("alice"))
                .as("a day later the violations are forgotten")
                .isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    @DisplayName("At most five of many simultaneous guesses are checked")
    void parallelGuessesCannotSlipThrough() {
        List<Answer> answers = Client.together(Collections.nCopies(20, () -> sample.login("alice", "wrong")));

        assertThat(answers).filteredOn(answer -> answer.status() == 401).hasSize(5);
        assertThat(answers).filteredOn(answer -> answer.status() == 429).hasSize(15);
    }

    @Test
    @DisplayName("A login without a name is refused and counts nowhere")
    void withoutName() {
        assertThat(Client.times(7, () -> sample.login(" ", "wrong"))).containsOnly(400);
    }

    @Test
    @DisplayName("Guesses with HTTP Basic count as those at /login do")
    void guessesWithHttpBasicCount() {
        assertThat(Client.times(3, () -> sample.readWith("alice", "wrong"))).containsOnly(401);
        assertThat(sample.login("alice", "wrong").status()).isEqualTo(401);
        assertThat(sample.readWith("Alice", "wrong").status()).isEqualTo(401);

        Answer denied = sample.readWith("alice", "wrong");
        assertThat(denied.status()).isEqualTo(429);
        assertThat(denied.body()).contains("\"penalty_active\":true", "\"violated-policies\":[\"login\"]");
        assertThat(denied.number("Retry-After")).isEqualTo(300);
        assertThat(sample.readWith("alice", "alice").status())
                .as("the right password does not help any more")
                .isEqualTo(429);
        assertThat(sample.login("alice", "alice").status()).isEqualTo(429);
        assertThat(sample.readWith("bob", "bob").status()).isEqualTo(200);
        pass(Duration.ofMinutes(5));
        assertThat(sample.readWith("alice", "alice").status()).isEqualTo(200);
    }

    @Test
    @DisplayName("At most five of many simultaneous guesses with HTTP Basic are checked")
    void parallelGuessesWithHttpBasicCannotSlipThrough() {
        List<Answer> answers = Client.together(Collections.nCopies(20, () -> sample.readWith("alice", "wrong")));

        assertThat(answers).filteredOn(answer -> answer.status() == 401).hasSize(5);
        assertThat(answers).filteredOn(answer -> answer.status() == 429).hasSize(15);
    }

    @Test
    @DisplayName("Correct passwords with HTTP Basic are not counted, however many come at once")
    void rightPasswordsWithHttpBasicDoNotCount() {
        assertThat(Client.together(Collections.nCopies(30, () -> sample.readWith("admin", "admin"))))
                .extracting(Answer::status)
                .containsOnly(200);
        assertThat(Client.times(5, () -> sample.login("admin", "wrong"))).containsOnly(401);
    }
}
