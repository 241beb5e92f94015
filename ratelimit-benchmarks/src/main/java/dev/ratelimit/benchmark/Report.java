package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.Spread;
import dev.ratelimit.benchmark.load.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The results, as ratios, as tables, and as a chart. */
final class Report {

    private static final String BEGIN = "<!-- measured: begin -->";
    private static final String END = "<!-- measured: end -->";

    private final String settings;
    private final List<Contender> decisions = new ArrayList<>();
    private final List<Contender> requests = new ArrayList<>();
    private final List<Comparison> comparisons = new ArrayList<>();
    private List<InProcess.Line> inProcess = List.of();

    Report(String settings) {
        this.settings = settings;
    }

    void decisions(List<Family> families) {
        decisions.addAll(Rounds.contenders(families));
        families.forEach(family -> comparisons.addAll(family.comparisons()));
    }

    void inProcess(List<InProcess.Line> lines) {
        inProcess = lines;
        comparisons.addAll(InProcess.comparisons(lines));
    }

    /** Whole requests. */
    void requests(List<Family> families) {
        requests.addAll(Rounds.contenders(families));
        families.forEach(family -> comparisons.addAll(family.comparisons()));
    }

    void print() {
        System.out.println();
        System.out.printf(
                "%-44s %12s %8s %10s %10s %7s %12s%n",
                "", "per second", "spread", "p50 µs", "p99 µs", "denied", "database µs");
        for (Contender one : all()) {
            Spread rate = one.spread(Turn::perSecond);
            System.out.printf(
                    Locale.ROOT,
                    "%-44s %12.0f %7.0f%% %10s %10s %7s %12s%n",
                    one.name(),
                    rate.median(),
                    rate.width() * 100,
                    micros(one, Turn::p50),
                    micros(one, Turn::p99),
                    denied(one),
                    micros(one, Turn::databaseMicros));
        }
        inProcess.forEach(System.out::println);
        System.out.println();
        for (Comparison one : comparisons) {
            Spread cpu = one.databaseTime();
            System.out.printf(
                    "ratio %s %s, %s to %s%s%s%n",
                    one.name(),
                    number(one.value().median()),
                    number(one.value().least()),
                    number(one.value().most()),
                    cpu.isKnown() ? ", CPU of the database " + number(cpu.median()) : "",
                    one.goal().isSet()
                            ? ", goal " + one.goal().judge(one.value().median())
                            : "");
        }
    }

    private List<Contender> all() {
        List<Contender> all = new ArrayList<>(decisions);
        all.addAll(requests);
        return all;
    }

    /** Nothing if it was not measured. */
    private static String micros(Contender contender, ToDoubleFunction<Turn> figure) {
        Spread micros = contender.spread(figure);
        return micros.isKnown() ? String.format(Locale.ROOT, "%.1f", micros.median()) : "";
    }

    /** Nothing where all were admitted. */
    private static String denied(Contender contender) {
        double part = contender.spread(Turn::deniedPart).median();
        return part == 0 ? "" : String.format(Locale.ROOT, "%.0f %%", part * 100);
    }

    private static String number(double value) {
        return String.format(
                Locale.ROOT, value < 1 ? "%.3f" : value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    }

    /** Writes the measured part of the document, and the chart beside it. */
    void write(Path docs) throws IOException {
        Files.writeString(docs.resolve("images/performance.svg"), Chart.of(decisions));
        Path document = docs.resolve("performance.md");
        String text = Files.readString(document);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        Files.writeString(document, text.substring(0, begin) + "\n\n" + measured() + text.substring(text.indexOf(END)));
    }

    /** The measured part of the document. */
    String measured() {
        StringBuilder out = new StringBuilder();
        out.append("```\n")
                .append(settings)
                .append("\n")
                .append(Runtime.getRuntime().availableProcessors())
                .append(" processors, Java ")
                .append(Runtime.version().feature())
                .append("\n```\n\n");
        ratios(out);
        out.append(
                "\n| | decisions/s | spread | p50 µs | p99 µs | denied | database µs |\n|---|---|---|---|---|---|---|\n");
        for (Contender one : decisions) {
            Spread rate = one.spread(Turn::perSecond);
            out.append(String.format(
                    Locale.ROOT,
                    "| %s | %,.0f | %.0f %% | %s | %s | %s | %s |%n",
                    one.name(),
                    rate.median(),
                    rate.width() * 100,
                    micros(one, Turn::p50),
                    micros(one, Turn::p99),
                    denied(one),
                    micros(one, Turn::databaseMicros)));
        }
        if (!inProcess.isEmpty()) {
            out.append("\n```\n");
            inProcess.forEach(line -> out.append(line).append("\n"));
            out.append("```\n");
        }
        if (!requests.isEmpty()) {
            out.append("\n| whole requests | requests/s | spread | database µs |\n|---|---|---|---|\n");
            for (Contender one : requests) {
                Spread rate = one.spread(Turn::perSecond);
                out.append(String.format(
                        Locale.ROOT,
                        "| %s | %,.0f | %.0f %% | %s |%n",
                        one.name(),
                        rate.median(),
                        rate.width() * 100,
                        micros(one, Turn::databaseMicros)));
            }
        }
        return out.append("\n").toString();
    }

    private void ratios(StringBuilder out) {
        out.append("| ratio | median | range | goal | CPU of the database |\n|---|---|---|---|---|\n");
        for (Comparison one : comparisons) {
            Spread cpu = one.databaseTime();
            out.append(String.format(
                    "| `%s` | %s%s | %s – %s | %s | %s |%n",
                    one.name(),
                    number(one.value().median()),
                    one.goal().unit(),
                    number(one.value().least()),
                    number(one.value().most()),
                    one.goal().judge(one.value().median()),
                    cpu.isKnown() ? number(cpu.median()) : ""));
        }
    }
}
