package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.Spread;
import dev.ratelimit.benchmark.load.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * Contenders that are measured right after one another in each turn, and the ratios between them. So both sides of a ratio are
 * a few seconds apart at most, and meet the same machine. A contender may be in several families.
 */
final class Family {

    /**
     * @param of if there are several, the ratio is that of the slowest
     */
    private record Ratio(String name, List<Contender> of, Contender to, ToDoubleFunction<Turn> figure, Goal goal) {

        boolean isCalled(String part) {
            return name.contains(part)
                    || to.name().contains(part)
                    || of.stream().anyMatch(one -> one.name().contains(part));
        }
    }

    private final List<Contender> members;
    private final List<Ratio> ratios = new ArrayList<>();
    private final Map<Contender, List<Turn>> turns = new HashMap<>();

    Family(Contender... members) {
        this.members = new ArrayList<>(Arrays.asList(members));
    }

    Family ratio(String name, Contender of, Contender to, Goal goal) {
        return ratio(name, List.of(of), to, Turn::perSecond, goal);
    }

    Family ratio(String name, List<Contender> of, Contender to, ToDoubleFunction<Turn> figure, Goal goal) {
        if (!members.contains(to) || !members.containsAll(of)) {
            throw new IllegalArgumentException(name + " is not a ratio between members of the family");
        }
        ratios.add(new Ratio(name, of, to, figure, goal));
        return this;
    }

    /** The families, or those parts of them whose names have that part. */
    static List<Family> chosen(List<Family> families, String only) {
        families.forEach(family -> family.leaveOnly(only));
        return families.stream().filter(family -> !family.members().isEmpty()).toList();
    }

    /** Keeps the ratios with that part in their name, and the contenders that they need. */
    private void leaveOnly(String part) {
        ratios.removeIf(ratio -> !ratio.isCalled(part));
        Set<Contender> needed = new HashSet<>();
        for (Ratio ratio : ratios) {
            needed.addAll(ratio.of());
            needed.add(ratio.to());
        }
        members.removeIf(member -> !needed.contains(member) && !member.name().contains(part));
    }

    List<Contender> members() {
        return members;
    }

    void measure(int turn, double seconds) throws Exception {
        for (Contender member : order(members, turn)) {
            turns.computeIfAbsent(member, one -> new ArrayList<>()).add(member.measure(seconds));
        }
    }

    /**
     * The order in a turn. Everybody comes first equally often, and has the same neighbours before it as after it: of two, it
     * is a b, b a, b a, a b, and so on.
     */
    static <T> List<T> order(List<T> members, int turn) {
        List<T> order = new ArrayList<>(members);
        Collections.rotate(order, -turn);
        if (turn / Math.max(1, members.size()) % 2 == 1) {
            Collections.reverse(order);
        }
        return order;
    }

    List<Comparison> comparisons() {
        return ratios.stream()
                .map(ratio -> ratio.of().stream()
                        .map(of -> compare(ratio, of))
                        .min(Comparator.comparingDouble(one -> one.value().median()))
                        .orElseThrow())
                .toList();
    }

    private Comparison compare(Ratio ratio, Contender of) {
        return new Comparison(
                ratio.name(),
                paired(of, ratio.to(), ratio.figure()),
                ratio.goal(),
                paired(of, ratio.to(), Turn::databaseMicros));
    }

    private Spread paired(Contender of, Contender to, ToDoubleFunction<Turn> figure) {
        return Spread.ofRatios(figures(of, figure), figures(to, figure));
    }

    private double[] figures(Contender contender, ToDoubleFunction<Turn> figure) {
        return turns.getOrDefault(contender, List.of()).stream()
                .mapToDouble(figure)
                .toArray();
    }
}
