package dev.ratelimit.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What was measured, as a table, as ratios, and as a chart. */
final class Report {

    private static final String BEGIN = "<!-- measured: begin -->";
    private static final String END = "<!-- measured: end -->";

    /**
     * @param atLeast whether it should be the goal or more; else the goal or less
     */
    private record Goal(double goal, boolean atLeast) {

        boolean isMet(double value) {
            return atLeast ? value >= goal : value <= goal;
        }

        @Override
        public String toString() {
            return (atLeast ? "≥ " : "≤ ") + (goal == Math.rint(goal) ? Long.toString((long) goal) : goal);
        }
    }

    private final String settings;
    private final Map<String, Series> series;
    private final Map<String, Double> ratios = new LinkedHashMap<>();
    private final Map<String, Goal> goals = new LinkedHashMap<>();
    private List<String> inProcess = List.of();
    private Map<String, Double> http = Map.of();

    Report(String settings, Map<String, Series> series) {
        this.settings = settings;
        this.series = series;
    }

    void ratios() {
        ratio("postgresql-64-callers/bucket4j", "postgresql 64 callers", "bucket4j-postgresql 64 callers", 7);
        ratio(
                "postgresql-64-callers/function-per-decision",
                "postgresql 64 callers",
                "function-per-decision 64 callers",
                4.5);
        ratio("postgresql-64-callers/bucket4j-redis", "postgresql 64 callers", "bucket4j-redis 64 callers", 1.3);
        ratio("postgresql-64-callers/redis-lua-durable", "postgresql 64 callers", "redis-lua-durable 64 callers", 1);
        ratio("postgresql-hot-key/bucket4j", "postgresql hot key", "bucket4j-postgresql hot key", 30);
        ratio(
                "postgresql-3-instances-hot-key/bucket4j",
                "postgresql 3 instances, hot key",
                "bucket4j-postgresql 3 instances, hot key",
                20);
        ratio("postgresql-1-caller/bucket4j", "postgresql 1 caller", "bucket4j-postgresql 1 caller", 1.3);
        ratio("postgresql-1-caller/raw-update", "postgresql 1 caller", "raw-update 1 caller", 0.75);
        ratio("sqlite-64-callers/one-transaction-each", "sqlite 64 callers", "sqlite-transaction-each 64 callers", 1.8);
        ratio(
                "sqlite-64-callers-full/one-transaction-each-full",
                "sqlite 64 callers, full",
                "sqlite-transaction-each 64 callers, full",
                7);
        ratio("sqlite-1-caller/one-transaction-each", "sqlite 1 caller", "sqlite-transaction-each 1 caller", 0.85);
        ratio("denied-subject/bucket4j-local", "denied subject", "bucket4j-local denied", 0.7);
        ratio("denied-90/bucket4j", "postgresql denied-90", "bucket4j-postgresql denied-90", 40);
        ratio("leased-hot-key/group-hot-key", "postgresql hot key, leased", "postgresql hot key", 2);
        ratio("two-limits/one-limit", "postgresql two limits", "postgresql 64 callers", 0.6);
        Series bucket = series.get("postgresql 64 callers");
        double slowest = series.values().stream()
                .filter(one -> one.name().matches("postgresql (fixed|sliding|leaky)-.*"))
                .mapToDouble(Series::perSecond)
                .min()
                .orElse(Double.NaN);
        if (bucket != null && !Double.isNaN(slowest)) {
            put("five-algorithms/token-bucket", slowest / bucket.perSecond(), new Goal(0.6, true));
        }
        Series peer = series.get("bucket4j-postgresql 64 callers");
        if (bucket != null && peer != null) {
            put("p99-at-64-callers/bucket4j", bucket.p99() / peer.p99(), new Goal(0.1, false));
        }
    }

    private void ratio(String name, String of, String to, double goal) {
        Series one = series.get(of);
        Series other = series.get(to);
        if (one != null && other != null) {
            put(name, one.perSecond() / other.perSecond(), new Goal(goal, true));
        }
    }

    private void put(String name, double value, Goal goal) {
        ratios.put(name, value);
        goals.put(name, goal);
    }

    void inProcess(List<String> lines) {
        inProcess = lines;
    }

    /**
     * @param requests requests a second, by what limits them
     */
    void http(Map<String, Double> requests) {
        http = requests;
        double unlimited = requests.getOrDefault("http-unlimited", Double.NaN);
        for (String name : new String[] {"http-memory", "http-sqlite", "http-postgresql"}) {
            if (requests.containsKey(name)) {
                ratios.put(name + "/http-unlimited", requests.get(name) / unlimited);
            }
        }
    }

    void print() {
        System.out.println();
        System.out.printf("%-44s %12s %8s %10s %10s%n", "", "decisions/s", "spread", "p50 µs", "p99 µs");
        for (Series one : series.values()) {
            System.out.printf(
                    Locale.ROOT,
                    "%-44s %12.0f %7.0f%% %10.1f %10.1f%n",
                    one.name(),
                    one.perSecond(),
                    one.spread() * 100,
                    one.p50(),
                    one.p99());
        }
        inProcess.forEach(System.out::println);
        http.forEach((name, rate) -> System.out.printf(Locale.ROOT, "%-44s %12.0f requests/s%n", name, rate));
        System.out.println();
        ratios.forEach((name, value) -> System.out.printf(Locale.ROOT, "ratio %s %s%n", name, number(value)));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 1 ? "%.3f" : value < 10 ? "%.2f" : "%.1f", value);
    }

    /** Writes the measured part of the document, and the chart beside it. */
    void write(Path docs) throws IOException {
        Files.writeString(docs.resolve("images/performance.svg"), chart());
        Path document = docs.resolve("performance.md");
        String text = Files.readString(document);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        Files.writeString(document, text.substring(0, begin) + "\n\n" + measured() + text.substring(text.indexOf(END)));
    }

    private String measured() {
        StringBuilder out = new StringBuilder();
        out.append("```\n")
                .append(settings)
                .append("\n")
                .append(Runtime.getRuntime().availableProcessors())
                .append(" processors, Java ")
                .append(Runtime.version().feature())
                .append("\n```\n\n");
        out.append("| ratio | value | goal |\n|---|---|---|\n");
        ratios.forEach((name, value) -> {
            Goal goal = goals.get(name);
            String met = goal == null || goal.isMet(value) ? "" : " (not met)";
            out.append("| `")
                    .append(name)
                    .append("` | ")
                    .append(number(value))
                    .append(" | ")
                    .append(goal == null ? "" : goal)
                    .append(met)
                    .append(" |\n");
        });
        out.append("\n| | decisions/s | spread | p50 µs | p99 µs |\n|---|---|---|---|---|\n");
        for (Series one : series.values()) {
            out.append(String.format(
                    Locale.ROOT,
                    "| %s | %,.0f | %.0f %% | %.1f | %.1f |%n",
                    one.name(),
                    one.perSecond(),
                    one.spread() * 100,
                    one.p50(),
                    one.p99()));
        }
        if (!inProcess.isEmpty()) {
            out.append("\n```\n").append(String.join("\n", inProcess)).append("\n```\n");
        }
        if (!http.isEmpty()) {
            out.append("\n| whole requests | requests/s |\n|---|---|\n");
            http.forEach((name, rate) -> out.append(String.format(Locale.ROOT, "| %s | %,.0f |%n", name, rate)));
        }
        return out.append("\n").toString();
    }

    /** Bars on a scale of powers of ten: what keeps state in a database or in Redis, with 64 callers. */
    private String chart() {
        List<Series> shown = series.values().stream()
                .filter(one -> one.load().callers() == 64 && !one.name().contains("-90"))
                .toList();
        int height = 40 + 24 * shown.size();
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 %d\" font-family=\"sans-serif\""
                        + " font-size=\"13\">%n",
                height));
        svg.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
        for (int power = 2; power <= 6; power++) {
            int x = x(Math.pow(10, power));
            svg.append(String.format(
                    "<line x1=\"%d\" y1=\"24\" x2=\"%d\" y2=\"%d\" stroke=\"#d0d0d0\"/><text x=\"%d\" y=\"18\""
                            + " text-anchor=\"middle\" fill=\"#606060\">%,d</text>%n",
                    x, x, height - 8, x, (long) Math.pow(10, power)));
        }
        for (int i = 0; i < shown.size(); i++) {
            Series one = shown.get(i);
            int y = 32 + 24 * i;
            boolean ours = one.name().startsWith("postgresql") || one.name().startsWith("sqlite ");
            svg.append(String.format(
                    "<text x=\"300\" y=\"%d\" text-anchor=\"end\" fill=\"#202020\">%s</text><rect x=\"310\" y=\"%d\""
                            + " width=\"%d\" height=\"16\" fill=\"%s\"/><text x=\"%d\" y=\"%d\""
                            + " fill=\"#202020\">%,.0f</text>%n",
                    y + 13,
                    one.name(),
                    y,
                    Math.max(1, x(one.perSecond()) - 310),
                    ours ? "#1f6feb" : "#9aa4ae",
                    x(one.perSecond()) + 6,
                    y + 13,
                    one.perSecond()));
        }
        return svg.append("</svg>\n").toString();
    }

    private static int x(double perSecond) {
        return (int) (310 + Math.max(0, Math.log10(Math.max(1, perSecond)) - 2) * 120);
    }
}
