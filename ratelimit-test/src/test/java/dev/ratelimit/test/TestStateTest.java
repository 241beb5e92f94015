package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class TestStateTest {

    private final AtomicInteger resets = new AtomicInteger();
    private final TestState state = new TestState(resets::incrementAndGet);

    @Test
    void isResetBeforeEachTest() {
        state.started("one");
        state.ended("one");
        state.started("two");

        assertThat(resets).hasValue(2);
    }

    @Test
    void isNotResetWhileAnotherTestRuns(CapturedOutput output) {
        state.started("one");
        state.started("two");
        state.started("three");
        state.ended("one");
        state.ended("two");
        state.ended("three");
        assertThat(resets).hasValue(1);
        assertThat(output.getOut().split("runs at the same time as", -1)).hasSize(2);
        assertThat(output).contains("two runs at the same time as [one], in the same application context");

        state.started("four");

        assertThat(resets).hasValue(2);
    }
}
