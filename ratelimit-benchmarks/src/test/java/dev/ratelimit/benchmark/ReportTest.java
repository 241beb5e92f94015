package dev.ratelimit.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.benchmark.load.Spread;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

    @TempDir
    Path docs;

    @Test
    void measuredPartShowsMedianRangeGoalAndCpu() throws Exception {
        Contender ours = new FixedContender("ours", 10, 300.0, 200.0, 250.0);
        Contender peer = new FixedContender("peer", 40, 100.0, 100.0, 100.0);
        Family family = new Family(ours, peer)
                .ratio("ours/peer", ours, peer, Goal.atLeast(2).stretch(3))
                .ratio("peer/ours", peer, ours, Goal.atLeast(1));
        for (int turn = 0; turn < 3; turn++) {
            family.measure(turn, 0);
        }
        Report report = new Report("settings");
        report.decisions(List.of(family));
        report.inProcess(List.of(new InProcess.Line("Decisions.decideInMemory", 0.5, Spread.of(480, 496, 512))));

        assertThat(report.measured())
                .contains("| `ours/peer` | 2.50 | 2.00 – 3.00 | ≥ 2, stretch ≥ 3 (stretch not met) | 0.250 |\n")
                .contains("| `peer/ours` | 0.400 | 0.333 – 0.500 | ≥ 1 (not met) | 4.00 |\n")
                .contains("| `allocation-in-memory` | 496 B | 480 – 512 | ≤ 500 B |  |\n")
                .contains("| ours | 250 | 40 % | 1.0 | 2.0 | 5 % | 10.0 |\n");
    }

    @Test
    void onlyTheMeasuredPartIsReplaced() throws Exception {
        Files.createDirectory(docs.resolve("images"));
        Path page = docs.resolve("performance.md");
        Files.writeString(page, "before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n");

        new Report("settings").write(docs);

        assertThat(page)
                .content()
                .startsWith("before\n")
                .endsWith("\nafter\n")
                .contains("settings")
                .doesNotContain("old");
    }
}
