package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.Turn;
import java.util.List;

/** Bars on a scale of powers of ten: everything that keeps state in a database or in Redis, with 64 callers. */
final class Chart {

    private Chart() {}

    static String of(List<Contender> contenders) {
        List<Contender> shown = contenders.stream().filter(Chart::isShown).toList();
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
            bar(svg, shown.get(i), 32 + 24 * i);
        }
        return svg.append("</svg>\n").toString();
    }

    private static boolean isShown(Contender contender) {
        return contender instanceof LoadedPeer peer
                && peer.load().callers() == 64
                && !contender.name().contains("-90")
                && !contender.name().endsWith("threads");
    }

    private static void bar(StringBuilder svg, Contender one, int y) {
        boolean ours = one.name().startsWith("postgresql") || one.name().startsWith("sqlite ");
        double rate = one.spread(Turn::perSecond).median();
        svg.append(String.format(
                "<text x=\"300\" y=\"%d\" text-anchor=\"end\" fill=\"#202020\">%s</text><rect x=\"310\" y=\"%d\""
                        + " width=\"%d\" height=\"16\" fill=\"%s\"/><text x=\"%d\" y=\"%d\""
                        + " fill=\"#202020\">%,.0f</text>%n",
                y + 13,
                one.name(),
                y,
                Math.max(1, x(rate) - 310),
                ours ? "#1f6feb" : "#9aa4ae",
                x(rate) + 6,
                y + 13,
                rate));
    }

    private static int x(double perSecond) {
        return (int) (310 + Math.max(0, Math.log10(Math.max(1, perSecond)) - 2) * 120);
    }
}
