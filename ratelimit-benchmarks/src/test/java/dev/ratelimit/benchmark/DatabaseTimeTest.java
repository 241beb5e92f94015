package dev.ratelimit.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.benchmark.load.DatabaseTime;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DatabaseTimeTest {

    @Test
    void timeOfAChildIsCountedFromTheFirstLook() throws Exception {
        Process busy = new ProcessBuilder("sh", "-c", "while :; do :; done").start();
        try {
            DatabaseTime before = DatabaseTime.now(ProcessHandle.current());
            double nanos = 0;
            for (int i = 0; i < 200 && nanos == 0; i++) {
                TimeUnit.MILLISECONDS.sleep(50);
                nanos = DatabaseTime.now(ProcessHandle.current()).nanosSince(before);
            }

            assertThat(nanos).isPositive();
        } finally {
            busy.destroyForcibly();
        }
    }

    @Test
    void childThatHasEndedTakesNothingAway() throws Exception {
        Process shortLived = new ProcessBuilder("sh", "-c", "sleep 60").start();
        DatabaseTime before = DatabaseTime.now(ProcessHandle.current());
        shortLived.destroyForcibly().waitFor();

        assertThat(DatabaseTime.now(ProcessHandle.current()).nanosSince(before)).isNotNegative();
    }

    @Test
    void timeThatIsNotMeasuredIsNotZero() {
        assertThat(DatabaseTime.NOT_MEASURED.nanosSince(DatabaseTime.NOT_MEASURED))
                .isNaN();
    }
}
