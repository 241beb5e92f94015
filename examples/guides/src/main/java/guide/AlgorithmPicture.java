package guide;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.MemoryLimitStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Draws how an algorithm answers three minutes of requests: a burst before and after the turn of a minute, then one request every
 * three seconds. The answers are those of the real arithmetic on a clock that is set.
 */
final class AlgorithmPicture {

    private static final Duration LENGTH = Duration.ofMinutes(3);
    private static final int LEFT = 96;
    private static final int WIDTH = 720;
    private static final int TOP = 34;
    private static final int HEIGHT = 90;

    private final String title;
    private final long most;
    private final List<String> marks = new ArrayList<>();
    private final List<long[]> remaining = new ArrayList<>();
    private int allowed;
    private int denied;

    private AlgorithmPicture(String title, long most) {
        this.title = title;
        this.most = most;
    }

    /** All pictures by the name of their algorithm. */
    static Map<String, String> all() {
        Map<String, String> pictures = new TreeMap<>();
        pictures.put("fixed-window", draw("fixed-window", "max-requests", "10", "window", "1m"));
        pictures.put("sliding-window", draw("sliding-window", "max-requests", "10", "window", "1m"));
        pictures.put("sliding-log", draw("sliding-log", "max-requests", "10", "window", "1m"));
        pictures.put("token-bucket", draw("token-bucket", "burst", "10", "refill", "10/m"));
        pictures.put("leaky-bucket", draw("leaky-bucket", "capacity", "10", "drain", "10/m"));
        return pictures;
    }

    private static String draw(String algorithm, String number, String most, String time, String value) {
        Limit limit = Algorithms.limit("api", Map.of("algorithm", algorithm, number, most, time, value));
        AlgorithmPicture picture = new AlgorithmPicture(
                algorithm + ": " + number + " " + most + ", " + time + " " + value, Long.parseLong(most));
        Instant start = Instant.parse("2026-01-01T12:00:00Z");
        Instant[] now = {start};
        Subject alice = Subject.user("alice");
        try (StoreRateLimiter limiter = StoreRateLimiter.builder(new MemoryLimitStore(() -> now[0]), Limits.of(limit))
                .build()) {
            for (long tenth = 0; tenth <= LENGTH.toMillis() / 100; tenth++) {
                now[0] = start.plusMillis(100 * tenth);
                if (arrives(tenth)) {
                    picture.request(100 * tenth, limiter.decide(alice, "api"));
                }
                picture.remaining.add(
                        new long[] {100 * tenth, limiter.peek(alice, "api").remaining()});
            }
        }
        return picture.svg();
    }

    /** Two bursts of twelve, 52 and 64 seconds after the start, then a steady stream. */
    private static boolean arrives(long tenth) {
        boolean first = tenth >= 520 && tenth < 580 && tenth % 5 == 0;
        boolean second = tenth >= 640 && tenth < 700 && tenth % 5 == 0;
        boolean steady = tenth >= 900 && tenth % 30 == 0;
        return first || second || steady;
    }

    private void request(long millis, Decision decision) {
        if (decision.allowed()) {
            allowed++;
        } else {
            denied++;
        }
        marks.add(String.format(
                Locale.ROOT,
                "<circle cx=\"%.1f\" cy=\"%d\" r=\"3\" fill=\"%s\"/>",
                x(millis),
                decision.allowed() ? TOP + HEIGHT + 14 : TOP + HEIGHT + 26,
                decision.allowed() ? "#1a7f37" : "#cf222e"));
    }

    private static double x(long millis) {
        return LEFT + (double) WIDTH * millis / LENGTH.toMillis();
    }

    private double y(long units) {
        return TOP + HEIGHT - (double) HEIGHT * units / most;
    }

    private String svg() {
        StringBuilder svg = new StringBuilder();
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 840 184\" font-family=\"sans-serif\""
                + " font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
        text(svg, LEFT, 20, "start", title + " - " + allowed + " allowed, " + denied + " denied");
        for (int seconds = 0; seconds <= LENGTH.toSeconds(); seconds += 30) {
            double x = x(1000L * seconds);
            svg.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\"/>%n",
                    x,
                    TOP,
                    x,
                    TOP + HEIGHT + 32,
                    seconds % 60 == 0 ? "#9aa4ae" : "#e4e7ea"));
            text(svg, x, TOP + HEIGHT + 48, "middle", seconds + " s");
        }
        text(svg, LEFT - 8, TOP + 10, "end", "remaining " + most);
        text(svg, LEFT - 8, TOP + HEIGHT, "end", "0");
        text(svg, LEFT - 8, TOP + HEIGHT + 18, "end", "allowed");
        text(svg, LEFT - 8, TOP + HEIGHT + 30, "end", "denied");
        svg.append("<polyline fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2\" points=\"")
                .append(points())
                .append("\"/>\n");
        marks.forEach(mark -> svg.append(mark).append('\n'));
        return svg.append("</svg>\n").toString();
    }

    /** Only where the line bends. */
    private String points() {
        StringBuilder points = new StringBuilder();
        long before = -1;
        for (long[] one : remaining) {
            if (one[1] != before) {
                if (before >= 0) {
                    points.append(point(one[0], before));
                }
                points.append(point(one[0], one[1]));
                before = one[1];
            }
        }
        return points.append(point(LENGTH.toMillis(), before)).toString().strip();
    }

    private String point(long millis, long units) {
        return String.format(Locale.ROOT, "%.1f,%.1f ", x(millis), y(units));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#202020\">%s</text>%n",
                x,
                y,
                anchor,
                text));
    }
}
