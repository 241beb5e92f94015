package dev.ratelimit.monitor;

import static dev.ratelimit.monitor.WatchedLimiter.LOGIN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Subject;
import dev.ratelimit.testing.Messages;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MonitorTest {

    private final WatchedLimiter watched = new WatchedLimiter();

    @AfterEach
    void close() {
        watched.close();
    }

    @Test
    void denialsAreOneLinePerLimitAndMinute() {
        try (Messages messages = new Messages()) {
            for (int i = 0; i < 20; i++) {
                watched.exceed("user" + i, 3);
            }
            watched.tick();
            assertThat(messages.all()).noneMatch(line -> line.startsWith("Denied"));

            watched.move(Duration.ofSeconds(55));
            watched.tick();
            watched.move(Duration.ofSeconds(5));
            watched.tick();
            assertThat(messages.all().stream().filter(line -> line.startsWith("Denied")))
                    .singleElement()
                    .asString()
                    .matches("Denied 60 requests of about (19|20|21) subjects on limit api in the last minute");

            watched.move(Duration.ofMinutes(1));
            watched.tick();
            assertThat(messages.all().stream().filter(line -> line.startsWith("Denied")))
                    .hasSize(1);
        }
    }

    @Test
    void oneDenialIsInTheSingular() {
        try (Messages messages = new Messages()) {
            watched.exceed("alice", 1);
            watched.move(Duration.ofMinutes(1));
            watched.tick();
            assertThat(messages.all()).contains("Denied 1 request of about 1 subject on limit api in the last minute");
        }
    }

    /** The bound is wide: without it, closing waits for the database for good. */
    @Test
    @Timeout(60)
    void aSilentDatabaseKeepsNeitherClosingNorWarningsWaiting() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        Monitor monitor = Monitor.builder()
                .penalties(
                        () -> {
                            asked.countDown();
                            awaitUninterruptibly(answered);
                            return Map.of();
                        },
                        Duration.ofSeconds(1))
                .build();
        try {
            monitor.start();
            asked.await();

            assertThat(monitor.penalties().anHourAgo(monitor.now())).isZero();
            monitor.close();
        } finally {
            answered.countDown();
        }
    }

    /** As a thread that reads from a socket does. */
    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean done = false;
        while (!done) {
            try {
                latch.await();
                done = true;
            } catch (InterruptedException e) {
                // A socket does not see it.
            }
        }
    }

    @Test
    void aPenaltyThatBeginsIsOneLine() {
        try (Messages messages = new Messages()) {
            for (int i = 0; i < 5; i++) {
                watched.limiter.decide(Subject.user("mallory"), LOGIN);
            }
            assertThat(messages.all())
                    .containsExactly("Penalizing user:mallory on limit login until 2026-03-02T10:05:00Z");
        }
    }

    @Test
    void aNameForgesNoLine() {
        try (Messages messages = new Messages()) {
            for (int i = 0; i < 5; i++) {
                watched.limiter.decide(Subject.user("${jndi:x}\nWARN all is lost\u001b[31m"), LOGIN);
            }
            assertThat(messages.all())
                    .singleElement()
                    .asString()
                    .startsWith("Penalizing user:\\u0024{jndi:x}%0AWARN all is lost%1B[31m on limit login");
        }
    }

    @Test
    void nothingIsLoggedIfTheApplicationDoesNotWantIt() {
        try (Messages messages = new Messages();
                WatchedLimiter quiet = new WatchedLimiter(builder -> builder.logsDenials(false))) {
            quiet.exceed("alice", 10);
            quiet.move(Duration.ofMinutes(2));
            quiet.tick();

            assertThat(messages.all()).isEmpty();
        }
    }

    @Test
    void penaltiesAreReadAtTheIntervalAndKeptWhenReadingFails() {
        AtomicInteger reads = new AtomicInteger();
        try (WatchedLimiter counting = new WatchedLimiter(builder -> builder.penalties(
                () -> {
                    if (reads.incrementAndGet() == 3) {
                        throw new IllegalStateException("the database is away");
                    }
                    return Map.of("login", (long) reads.get());
                },
                Duration.ofSeconds(30)))) {
            assertThat(counting.monitor.activePenalties()).isEmpty();
            counting.tick();
            counting.tick();
            assertThat(counting.monitor.activePenalties()).isEqualTo(Map.of("login", 1L));

            counting.move(Duration.ofSeconds(30));
            counting.tick();
            assertThat(counting.monitor.activePenalties()).isEqualTo(Map.of("login", 2L));

            counting.move(Duration.ofSeconds(30));
            counting.tick();
            assertThat(counting.monitor.activePenalties()).isEqualTo(Map.of("login", 2L));
            assertThat(reads).hasValue(3);
        }
    }

    @Test
    void deniedSubjectsAreCountedByLimit() {
        watched.exceed("alice", 1);
        watched.exceed("bob", 1);
        watched.limiter.decide(Subject.user("carol"), "api");

        assertThat(watched.monitor.limits()).containsExactly("api");
        assertThat(watched.monitor.deniedSubjects("api")).isEqualTo(2);
        assertThat(watched.monitor.deniedSubjects("login")).isZero();
    }
}
