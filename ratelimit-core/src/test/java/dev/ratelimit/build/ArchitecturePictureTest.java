package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.ROOT;
import static dev.ratelimit.build.BuildFiles.read;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The picture of packages in docs/architecture.md shows what its tables list. {@code ArchitectureTest} enforces the tables. */
class ArchitecturePictureTest {

    private static final String PAGE = read(ROOT.resolve("docs/architecture.md"));
    private static final Pattern NODE = Pattern.compile("(\\w+)\\[([\\w.]+)[<\\]]");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([\\w.]+)` \\| ([^|]*)\\|");
    private static final Pattern NAME = Pattern.compile("`([\\w.]+)`");

    /** The one package that may import everything: tables list nothing for it. */
    private static final String WIRING = "autoconfigure";

    private record Arrow(String from, String to) {}

    private final Map<String, String> names = new HashMap<>();
    private final Set<Arrow> drawn = drawn();
    private final Set<Arrow> listed = listed();

    private Set<Arrow> drawn() {
        int packages = PAGE.indexOf("## Packages");
        int start = PAGE.indexOf("```mermaid", packages);
        String picture = PAGE.substring(start, PAGE.indexOf("\n```\n", start));
        NODE.matcher(picture).results().forEach(node -> names.put(node.group(1), node.group(2)));
        Set<Arrow> arrows = new HashSet<>();
        for (String line : picture.split("\n")) {
            String[] way = line.strip().split(" --> ");
            for (int i = 1; i < way.length; i++) {
                arrows.add(new Arrow(name(way[i - 1]), name(way[i])));
            }
        }
        return arrows;
    }

    private String name(String node) {
        assertThat(names).as("the nodes of the picture").containsKey(node);
        return names.get(node);
    }

    /** The imports between packages that the picture shows. */
    private Set<Arrow> listed() {
        Set<Arrow> arrows = new HashSet<>();
        for (MatchResult row : ROW.matcher(PAGE).results().toList()) {
            for (MatchResult imported : NAME.matcher(row.group(2)).results().toList()) {
                Arrow arrow = new Arrow(shown(row.group(1)), shown(imported.group(1)));
                if (!arrow.from().equals(arrow.to())
                        && names.containsValue(arrow.from())
                        && names.containsValue(arrow.to())) {
                    arrows.add(arrow);
                }
            }
        }
        return arrows;
    }

    /** The picture shows store.postgresql with its subpackages as one. */
    private static String shown(String name) {
        return name.startsWith("store.postgresql") ? "store.postgresql" : name;
    }

    private Set<String> reached(String from, Arrow without) {
        Set<String> seen = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(Set.of(from));
        while (!open.isEmpty()) {
            String next = open.pop();
            for (Arrow arrow : drawn) {
                if (arrow.from().equals(next) && !arrow.equals(without) && seen.add(arrow.to())) {
                    open.push(arrow.to());
                }
            }
        }
        return seen;
    }

    @Test
    void everyImportHasAWayInThePicture() {
        Arrow none = new Arrow("", "");

        assertThat(listed)
                .hasSizeGreaterThan(100)
                .allSatisfy(arrow -> assertThat(reached(arrow.from(), none))
                        .as("packages that arrows lead to from " + arrow.from())
                        .contains(arrow.to()));
    }

    @Test
    void everyArrowIsAnImportThatNoLongerWayShows() {
        assertThat(drawn).hasSizeGreaterThan(40).allSatisfy(arrow -> {
            assertThat(reached(arrow.from(), arrow))
                    .as("packages that longer ways lead to from " + arrow.from())
                    .doesNotContain(arrow.to());
            if (!arrow.from().equals(WIRING)) {
                assertThat(listed).contains(arrow);
            }
        });
    }
}
