package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.Algorithms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * An algorithm is named in its own class, in the list of algorithms, in its SQL fragment and in the metadata of the
 * properties, and nowhere else: so a new one is added in these places alone.
 */
class AlgorithmNamesTest {

    /** The modules that applications run. Tests and benchmarks name algorithms. */
    private static final List<String> MODULES = List.of(
            "ratelimit-core",
            "ratelimit-spring-boot-autoconfigure",
            "ratelimit-redis",
            "ratelimit-dashboard",
            "ratelimit-archive");

    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*");

    /** The enum that editors complete, and the descriptions of the properties beside it. */
    private static final String METADATA = "RateLimitProperties.java";

    @Test
    void anAlgorithmIsNamedInItsOwnPlacesAlone() throws IOException {
        List<String> elsewhere = new ArrayList<>();
        int looked = 0;
        for (Path source : sources()) {
            looked++;
            String code = COMMENT.matcher(Files.readString(source)).replaceAll("");
            for (String algorithm : Algorithms.names()) {
                if (naming(algorithm).matcher(code).find()
                        && !mayName(source.getFileName().toString(), algorithm)) {
                    elsewhere.add(algorithm + " in " + source.getFileName());
                }
            }
        }

        assertThat(looked).isGreaterThan(100);
        assertThat(elsewhere).isEmpty();
    }

    private static boolean mayName(String file, String algorithm) {
        String type = type(algorithm);
        return List.of(type + ".java", "Algorithms.java", type + "Fragment.java", "AdmissionFragments.java", METADATA)
                .contains(file);
    }

    /** As a class, as a method, as a constant, or as text. */
    private static Pattern naming(String algorithm) {
        String type = type(algorithm);
        String method = type.substring(0, 1).toLowerCase(Locale.ROOT) + type.substring(1);
        String constant = algorithm.toUpperCase(Locale.ROOT).replace('-', '_');
        return Pattern.compile("\\b(" + type + "|" + type + "Fragment|" + method + "|" + constant + ")\\b|"
                + Pattern.quote(algorithm));
    }

    /** {@code token-bucket} is {@code TokenBucket}. */
    private static String type(String algorithm) {
        return Stream.of(algorithm.split("-", -1))
                .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                .collect(Collectors.joining());
    }

    private static List<Path> sources() throws IOException {
        Path root = Path.of("").toAbsolutePath().getParent();
        List<Path> sources = new ArrayList<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(root.resolve(module).resolve("src/main"))) {
                files.filter(file -> file.toString().endsWith(".java")
                                || file.toString().endsWith(".sql"))
                        .forEach(sources::add);
            }
        }
        return sources;
    }
}
