package dev.ratelimit.sample;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;

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

    Client sample;

    @BeforeEach
    void twoDaysPass() {
        clock.move(Duration.ofDays(2));
        sample = new Client(port);
    }

    @AfterEach
    void stopClock() {
        clock.stop();
    }

    /** Moves the clock. */
    void pass(Duration time) {
        clock.move(time);
    }
}
