package dev.ratelimit.sample;

import dev.ratelimit.admin.NewKey;
import dev.ratelimit.admin.RateLimitAdmin;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * The sample on a port of its own, with its own limits, in an SQLite file, on a clock that tests move. All classes share
 * one; two days pass before each test, after which no limit and no penalty remembers anything.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "ratelimit.store.deadline=10s")
@Import(OnMovableClock.class)
abstract class RunningSample {

    @LocalServerPort
    int port;

    @Autowired
    MovableClock clock;

    @Autowired
    RateLimitAdmin admin;

    Client sample;

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry properties) {
        properties.add("ratelimit.store.sqlite.path", OnMovableClock.Folder.TEMPORARY.database()::toString);
    }

    @BeforeEach
    void twoDaysPass() {
        clock.move(Duration.ofDays(2));
        sample = new Client(port);
    }

    @AfterEach
    void stopClock() {
        clock.stop();
    }

    /** A new API key of the tier, as it is sent. */
    String keyOf(String tier, String owner) {
        return admin.keys().create(NewKey.of("test", owner).tier(tier), "test").secret();
    }

    /** Moves the clock. */
    void pass(Duration time) {
        clock.move(time);
    }
}
