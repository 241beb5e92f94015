package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.ROOT;
import static dev.ratelimit.build.BuildFiles.read;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Values of others are written to the log through {@code LogText}, so that nobody can forge a line. */
class LoggedValuesTest {

    private static final Pattern CALL =
            Pattern.compile("\\blog\\.(?:info|warn|error|debug)\\((?:\"(?:[^\"\\\\]|\\\\.)*\"|[^\";])*\\);");

    /** Names that hold text of users, operators or databases. */
    private static final Pattern FOREIGN = Pattern.compile(
            "(?<!LogText\\.of\\()\\b(?:\\w+\\.getMessage\\(\\)|(?:user|subject|by|author|reason|metadata|owner|path\\(\\)"
                    + "|\\w+\\.(?:by|reason|user|owner|name|subject|id)\\(\\)))\\s*[,)]");

    /** Files that an operator names, and names of rules and limits in the configuration: they do not come with requests. */
    private static final List<String> OWN = List.of("file.path()", "rule.name()", "conditions().path()", "path()");

    /** An exception as the last argument: its messages are printed with the stack trace. Lines for debugging may have it raw. */
    private static final Pattern RAW_EXCEPTION =
            Pattern.compile("^log\\.(?!debug).*,\\s*(?:e|failure|exception|error|thrown)\\);$", Pattern.DOTALL);

    static Stream<Path> sources() throws IOException {
        List<Path> modules = List.of(
                ROOT.resolve("ratelimit-core/src/main/java"),
                ROOT.resolve("ratelimit-spring-boot-autoconfigure/src/main/java"),
                ROOT.resolve("ratelimit-dashboard/src/main/java"),
                ROOT.resolve("ratelimit-archive/src/main/java"),
                ROOT.resolve("ratelimit-redis/src/main/java"));
        List<Path> found = modules.stream().flatMap(LoggedValuesTest::javaFiles).toList();
        assertThat(found).hasSizeGreaterThan(100);
        return found.stream().filter(file -> read(file).contains("LoggerFactory"));
    }

    private static Stream<Path> javaFiles(Path module) {
        try (Stream<Path> files = Files.walk(module)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("sources")
    void messagesOfLoggedExceptionsAreMadeHarmless(Path source) {
        assertThat(CALL.matcher(read(source)).results().map(MatchResult::group))
                .as("exceptions in log lines of %s without LogText.trace", source)
                .noneMatch(call -> RAW_EXCEPTION.matcher(call).matches());
    }

    @ParameterizedTest
    @MethodSource("sources")
    void valuesOfOthersAreMadeHarmless(Path source) {
        List<String> raw = CALL.matcher(read(source))
                .results()
                .map(MatchResult::group)
                .flatMap(call -> FOREIGN.matcher(call.replaceAll("\"(?:[^\"\\\\]|\\\\.)*\"", "\"\""))
                        .results()
                        .map(MatchResult::group))
                .filter(value -> OWN.stream().noneMatch(value::contains))
                .toList();

        assertThat(raw)
                .as("values in log lines of %s without LogText.of", source)
                .isEmpty();
    }
}
