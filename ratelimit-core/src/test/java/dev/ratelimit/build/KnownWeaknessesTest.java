package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.ROOT;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of known weaknesses names tests for each of them, and these tests exist. */
class KnownWeaknessesTest {

    private static final int WEAKNESSES = 53;
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+) \\|.*\\|(.*)\\|$");
    private static final Pattern NAME = Pattern.compile("`(\\w+)\\.(\\w+)`");

    @Test
    void eachIsHeldByTestsThatExist() throws IOException {
        Map<String, String> sources = sources();
        List<Integer> numbers = new ArrayList<>();
        for (MatchResult row :
                ROW.matcher(BuildFiles.read("docs/weaknesses.md")).results().toList()) {
            numbers.add(Integer.valueOf(row.group(1)));
            assertThat(NAME.matcher(row.group(2)).results())
                    .as("tests of number %s", row.group(1))
                    .isNotEmpty()
                    .allMatch(name ->
                            sources.getOrDefault(name.group(1), "").contains("    void " + name.group(2) + "("));
        }
        assertThat(numbers)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, WEAKNESSES).boxed().toList());
    }

    /** The sources of tests by the name of their class. Contracts of stores are main code of a module for tests. */
    private static Map<String, String> sources() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.map(Path::toString)
                    .filter(file -> file.matches(".*/src/(test|main)/java/.*(Test|Contract)\\.java"))
                    .collect(Collectors.toMap(
                            file -> Path.of(file).getFileName().toString().replace(".java", ""),
                            file -> BuildFiles.read(Path.of(file)),
                            String::concat));
        }
    }
}
