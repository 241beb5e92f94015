package dev.ratelimit.test.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each example of docs/how-to/testing.md is part of a test of this module, which compiles and runs it. */
class TestingPageTest {

    private static final Path TESTS = Path.of("src/test/java");

    private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @Test
    void everyExampleIsPartOfATest() throws IOException {
        List<String> sources;
        try (Stream<Path> files = Files.walk(TESTS)) {
            sources = files.filter(Files::isRegularFile)
                    .map(TestingPageTest::compact)
                    .toList();
        }
        List<String> examples = EXAMPLE.matcher(Files.readString(Path.of("../docs/how-to/testing.md")))
                .results()
                .map(MatchResult::group)
                .toList();

        assertThat(examples).hasSizeGreaterThan(4);
        for (String example : examples) {
            String code = compact(example.substring("```java\n".length(), example.length() - "```".length()));
            assertThat(sources).as(example).anyMatch(source -> source.contains(code));
        }
    }

    private static String compact(Path file) {
        try {
            return compact(Files.readString(file));
        } catch (IOException e) {
            throw new AssertionError("Cannot read " + file, e);
        }
    }

    /** Without blanks: lines may be broken elsewhere. */
    private static String compact(String code) {
        return code.replaceAll("\\s+", "");
    }
}
