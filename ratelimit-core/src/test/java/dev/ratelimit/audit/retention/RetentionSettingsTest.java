package dev.ratelimit.audit.retention;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.setting.InvalidSettingException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetentionSettingsTest {

    private static RetentionSettings days(int audit, int minutes, int hours, int days, int archives) {
        return new RetentionSettings(
                Duration.ofDays(audit),
                Duration.ofDays(minutes),
                Duration.ofDays(hours),
                Duration.ofDays(days),
                Duration.ofDays(archives));
    }

    @Test
    void tooShortTimesAreRefusedByName() {
        assertThatThrownBy(() -> days(0, 31, 400, 2557, 2557))
                .isInstanceOf(InvalidSettingException.class)
                .hasMessageContaining("keep")
                .hasMessageContaining("such as 90d");
        assertThatThrownBy(() -> days(90, 31, 1, 2557, 2557)).hasMessageContaining("keep-hours");
        assertThatThrownBy(() -> days(90, 31, 400, 100_000, 2557)).hasMessageContaining("keep-days");
    }

    @Test
    void hoursMustOutliveTheirMinutes() {
        assertThatThrownBy(() -> days(90, 31, 30, 2557, 2557))
                .isInstanceOf(InvalidSettingException.class)
                .hasMessageContaining("keep-hours")
                .hasMessageContaining("30d")
                .hasMessageContaining("write at least the time of keep-minutes (31d)");
    }

    @Test
    void archivesMustOutliveRows() {
        assertThatThrownBy(() -> days(90, 31, 400, 2557, 90))
                .isInstanceOf(InvalidSettingException.class)
                .hasMessageContaining("archive.keep")
                .hasMessageContaining("write a longer time than keep (90d)");
    }
}
