package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LogTest {

    @Test
    void emptyLogIsNoBytes() {
        assertThat(Log.EMPTY.toBytes()).isEmpty();
        assertThat(Log.of(new byte[0])).isEqualTo(Log.EMPTY);
    }

    @Test
    void bytesGiveBackTheSameLog() {
        Log log = log(1, 1, 256, 1_772_445_600_000_000L, Long.MAX_VALUE);
        assertThat(Log.of(log.toBytes())).isEqualTo(log).hasSameHashCodeAs(log);
    }

    @Test
    void bytesCompareAsTheMomentsDo() {
        byte[] earlier = log(255).toBytes();
        byte[] later = log(256).toBytes();
        assertThat(Arrays.compareUnsigned(earlier, later)).isNegative();
    }

    @Test
    void momentIsPutInItsPlace() {
        assertThat(log(10, 30).with(20, 2)).isEqualTo(log(10, 20, 20, 30));
        assertThat(log(10, 30).with(10, 1)).isEqualTo(log(10, 10, 30));
        assertThat(log(10, 30).with(5, 1)).isEqualTo(log(5, 10, 30));
        assertThat(log(10, 30).with(30, 0)).isEqualTo(log(10, 30));
    }

    @Test
    void momentIsTakenOutNoMoreOftenThanItIsThere() {
        Log log = log(10, 20, 20, 20, 30);
        assertThat(log.without(20, 2)).isEqualTo(log(10, 20, 30));
        assertThat(log.without(20, 1_000_000_000_000L)).isEqualTo(log(10, 30));
        assertThat(log.without(20, 0)).isEqualTo(log);
    }

    @Test
    void momentThatIsNotThereIsNotTakenOut() {
        Log log = log(10, 30);
        assertThat(log.without(5, 1)).isEqualTo(log);
        assertThat(log.without(20, 1)).isEqualTo(log);
        assertThat(log.without(40, 1)).isEqualTo(log);
        assertThat(Log.EMPTY.without(10, 1)).isEqualTo(Log.EMPTY);
    }

    @Test
    void onlyLaterMomentsAreAfterAMoment() {
        Log log = log(10, 20, 20, 30);
        assertThat(log.after(9)).isEqualTo(log);
        assertThat(log.after(10)).isEqualTo(log(20, 20, 30));
        assertThat(log.after(20)).isEqualTo(log(30));
        assertThat(log.after(30)).isEqualTo(Log.EMPTY);
    }

    @Test
    void earlierLogKeepsItsDistances() {
        assertThat(log(10, 20, 20).earlier(3)).isEqualTo(log(7, 17, 17));
        assertThat(Log.EMPTY.earlier(3)).isEqualTo(Log.EMPTY);
    }

    @Test
    void changingALogLeavesTheOriginalAlone() {
        Log log = log(10, 20);
        log.with(15, 1);
        log.without(10, 1);
        log.after(10);
        log.earlier(1);
        assertThat(log).isEqualTo(log(10, 20));
    }

    private static Log log(long... moments) {
        Log log = Log.EMPTY;
        for (long moment : moments) {
            log = log.with(moment, 1);
        }
        return log;
    }
}
