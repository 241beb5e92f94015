package dev.ratelimit.sample;

import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.test.RateLimitClock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/**
 * The sample on a port of its own, with its own limits, on a clock that tests move. All classes share one; {@code
 * ratelimit-test} keeps counts in memory and empties them before each test.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "ratelimit.store.deadline=10s")
abstract class RunningSample {

    @LocalServerPort
    int port;

    @Autowired
    RateLimitClock clock;

    @Autowired
    RateLimitAdmin admin;

    Client sample;

    @BeforeEach
    void startInTheMorning() {
        clock.set("2026-03-02T10:00:00Z");
        sample = new Client(port);
    }

    /** Stops the clock at the next whole second. */
    void stopClock() {
        clock.stop();
        clock.set(clock.instant().truncatedTo(ChronoUnit.SECONDS).plusSeconds(1));
    }

    /** A new API key of the tier, as it is sent. */
    String keyOf(String tier, String owner) {
        return admin.keys()
                .create(NewApiKey.of("test", owner).tier(tier), Change.by("test"))
                .secret();
    }

    /** Moves the clock. */
    void pass(Duration time) {
        clock.advance(time);
    }
}
