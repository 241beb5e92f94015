package dev.ratelimit.test;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** {@link RateLimitFaults}: the rule of {@code /strict} has {@code on-failure: closed}, that of {@code /goods} local. */
@SpringBootTest(classes = Shop.class)
@AutoConfigureMockMvc
class FaultsTest {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    RateLimitFaults faults;

    @Test
    void storeThatIsDown() {
        faults.storeIsDown();

        assertThat(mvc.get().uri("/strict")).hasStatus(503);
        assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(5);
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/strict")).isLimitedAfter(1))
                .hasMessageContaining(
                        "but request 1 was answered 503, Retry-After 1. The store is unavailable, and on-failure"
                                + " is closed");
    }

    @Test
    void storeThatIsSlowerThanTheDeadline() {
        faults.storeAnswersIn("5s");

        assertThat(mvc.get().uri("/strict")).hasStatus(503);
    }

    @RepeatedTest(2)
    void slowCallsDoNotOutliveATest() {
        assertThat(mvc.get().uri("/strict")).hasStatusOk();
        faults.storeAnswersIn("1h");

        assertThat(mvc.get().uri("/strict")).hasStatus(503);
    }

    @Test
    void storeThatIsSlowerButInTime() {
        faults.storeAnswersIn(Duration.ofNanos(1_000));

        assertThat(mvc.get().uri("/goods")).hasStatusOk();
    }

    @Test
    void storeThatIsUpAgainIsAskedAtOnce() {
        faults.storeIsDown();
        long end = System.nanoTime() + Duration.ofMillis(300).toNanos();
        while (System.nanoTime() < end) { // long enough for the breaker to open
            assertThat(mvc.get().uri("/strict")).hasStatus(503);
        }

        faults.storeIsUp();

        assertThat(mvc.get().uri("/strict")).hasStatusOk();
    }

    @Test
    void timesThatAreNone() {
        assertThatThrownBy(() -> faults.storeAnswersIn("slowly"))
                .hasMessage("time is 'slowly'; write a time such as 500ms, 10s, 15m, 1h, 1d or PT15M");
        assertThatThrownBy(() -> faults.storeAnswersIn(Duration.ofSeconds(-1)))
                .hasMessage("The store cannot answer in PT-1S; write a time of zero or more");
    }
}
