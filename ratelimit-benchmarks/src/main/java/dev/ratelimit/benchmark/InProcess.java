package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.jmh.Decisions;
import dev.ratelimit.benchmark.jmh.Rules;
import dev.ratelimit.benchmark.load.Spread;
import java.util.ArrayList;
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
import org.openjdk.jmh.util.Statistics;

/** A short run of the JMH benchmarks: how long parts of a decision take in process, and how much they allocate. */
final class InProcess {

    /** The name of the line in the report that has a goal. */
    static final String ALLOCATION = "allocation-in-memory";

    private static final Goal FEW_BYTES = Goal.atMost(500).in(" B");

    private InProcess() {}

    /**
     * One benchmark.
     *
     * @param micros a call takes
     * @param bytes a call allocates
     */
    record Line(String name, double micros, Spread bytes) {

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%-40s %8.3f µs %8.0f B", name, micros, bytes.median());
        }
    }

    static List<Line> measure() throws RunnerException {
        System.out.println("in process: JMH");
        List<Line> lines = new ArrayList<>();
        for (RunResult result : new Runner(new OptionsBuilder()
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
                .run()) {
            String name = result.getParams().getBenchmark().replaceAll(".*\\.(\\w+\\.\\w+)$", "$1");
            String rules = result.getParams().getParam("rules");
            lines.add(new Line(
                    name + (rules == null ? "" : " " + rules),
                    result.getPrimaryResult().getStatistics().getPercentile(50),
                    spread(result.getSecondaryResults().get("gc.alloc.rate.norm"))));
        }
        return lines;
    }

    private static Spread spread(Result<?> result) {
        if (result == null) {
            return Spread.UNKNOWN;
        }
        Statistics values = result.getStatistics();
        return new Spread(values.getPercentile(50), values.getMin(), values.getMax());
    }

    /** The allocation of a decision in memory, beside its goal. */
    static List<Comparison> comparisons(List<Line> lines) {
        return lines.stream()
                .filter(line -> line.name().equals("Decisions.decideInMemory"))
                .map(line -> new Comparison(ALLOCATION, line.bytes(), FEW_BYTES, Spread.UNKNOWN))
                .toList();
    }
}
