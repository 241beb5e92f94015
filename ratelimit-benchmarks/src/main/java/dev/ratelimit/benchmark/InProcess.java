package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.jmh.Decisions;
import dev.ratelimit.benchmark.jmh.Rules;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** A short run of the JMH benchmarks: what runs in process, with what it allocates; medians. */
final class InProcess {

    private InProcess() {}

    static List<String> measure() throws RunnerException {
        System.out.println("in process: JMH");
        Collection<RunResult> results = new Runner(new OptionsBuilder()
                        .include(Decisions.class.getName())
                        .include(Rules.class.getName())
                        .addProfiler(GCProfiler.class)
                        .forks(1)
                        .warmupIterations(2)
                        .warmupTime(TimeValue.milliseconds(700))
                        .measurementIterations(5)
                        .measurementTime(TimeValue.milliseconds(300))
                        .verbosity(VerboseMode.SILENT)
                        .shouldFailOnError(true)
                        .build())
                .run();
        List<String> lines = new ArrayList<>();
        for (RunResult result : results) {
            String name = result.getParams().getBenchmark().replaceAll(".*\\.(\\w+\\.\\w+)$", "$1");
            String rules = result.getParams().getParam("rules");
            Result<?> allocated = result.getSecondaryResults().get("gc.alloc.rate.norm");
            lines.add(String.format(
                    Locale.ROOT,
                    "%-40s %8.3f µs %8.0f B",
                    name + (rules == null ? "" : " " + rules),
                    result.getPrimaryResult().getStatistics().getPercentile(50),
                    allocated == null ? Double.NaN : allocated.getScore()));
        }
        return lines;
    }
}
