package dev.ratelimit.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MonthFolderTest {

    private static final YearMonth NOVEMBER = YearMonth.of(2026, 11);

    @TempDir
    private Path existing;

    /** Otherwise a power failure could take away a folder with an archive whose month has been dropped. */
    @Test
    void namesAreForcedUpToTheFirstFolderThatExisted() throws IOException {
        Path root = existing.resolve("audit/archives");
        MonthFolder november = MonthFolder.of(root, NOVEMBER);

        assertThat(november.parentsOfMissing())
                .containsExactly(root.resolve("2026"), root, existing.resolve("audit"), existing);

        november.begin();
        november.forceNames();

        assertThat(november.parentsOfMissing()).isEmpty();
        assertThat(MonthFolder.of(root, NOVEMBER.plusMonths(1)).parentsOfMissing())
                .containsExactly(root.resolve("2026"));
        assertThat(MonthFolder.of(root, NOVEMBER.plusMonths(2)).parentsOfMissing())
                .containsExactly(root.resolve("2027"), root);
        assertThat(Files.isDirectory(november.path())).isTrue();
    }
}
