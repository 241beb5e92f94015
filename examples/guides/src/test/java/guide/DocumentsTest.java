package guide;

import static org.assertj.core.api.Assertions.assertThat;

import guide.Documents.Snippet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The code in the documents is the code that tests of this project run. {@code -Ddocuments.update=true} copies it into the
 * documents.
 */
class DocumentsTest {

    private static final Set<String> COMPILED = Set.of("java", "kotlin", "typescript", "tsx", "sql");

    @BeforeAll
    static void update() throws IOException {
        if (Boolean.getBoolean("documents.update")) {
            Documents.update();
        }
    }

    static Stream<Snippet> code() {
        return Documents.snippets().stream().filter(snippet -> COMPILED.contains(snippet.language()));
    }

    @ParameterizedTest
    @MethodSource("code")
    void codeComesFromAFileThatIsTested(Snippet snippet) {
        assertThat(snippet.source())
                .as("the comment <!-- from PATH#region --> before %s", snippet)
                .isNotNull();
    }

    static Stream<Snippet> copies() {
        return Documents.snippets().stream().filter(snippet -> snippet.source() != null);
    }

    @ParameterizedTest
    @MethodSource("copies")
    void codeIsThatOfItsFile(Snippet snippet) {
        assertThat(snippet.code())
                .as("%s; run this test with -Ddocuments.update=true to copy it again", snippet)
                .isEqualTo(Documents.code(snippet));
    }

    /** A fragment may have its imports in a block above it. */
    @ParameterizedTest
    @MethodSource("copies")
    void codeComesWithItsImports(Snippet snippet) {
        String page = Documents.snippets().stream()
                .filter(other -> other.document().equals(snippet.document()))
                .filter(other -> snippet.source().equals(other.source()) && other.line() <= snippet.line())
                .map(Snippet::code)
                .collect(Collectors.joining());
        boolean needsImports =
                Documents.read(Documents.ROOT.resolve(snippet.source())).contains("\nimport ");
        assertThat(page.contains("import ") || !needsImports)
                .as("imports of %s, in the block or in one above it", snippet)
                .isTrue();
    }

    private static final Pattern OUR_VERSION = Pattern.compile(
            "<groupId>dev\\.ratelimit</groupId>\\s*<artifactId>([\\w-]+)</artifactId>(?:\\s*<version>([^<]+))?");

    @Test
    void ourModulesAreNamedWithTheirVersion() {
        String pom = Documents.read(Documents.ROOT.resolve("ratelimit-bom/pom.xml"));
        Matcher bom = Pattern.compile("<version>([^<]+)</version>").matcher(pom);
        assertThat(bom.find()).isTrue();
        assertThat(Documents.snippets().stream()
                        .filter(snippet -> snippet.language().equals("xml"))
                        .flatMap(snippet -> OUR_VERSION.matcher(snippet.code()).results()))
                .hasSizeGreaterThan(5)
                .allSatisfy(module ->
                        assertThat(module.group(2)).as(module.group(1)).isEqualTo(bom.group(1)));
    }

    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|mailto:)([^)#\\s]*)(?:#([^)\\s]*))?\\)");

    @Test
    void everyLinkLeadsToAFileAndAHeading() {
        assertThat(Documents.all())
                .allSatisfy(document -> LINK.matcher(Documents.read(document))
                        .results()
                        .forEach(link -> assertLeadsSomewhere(document, link.group(1), link.group(2))));
    }

    private static void assertLeadsSomewhere(Path document, String file, String heading) {
        Path target = file.isEmpty() ? document : document.resolveSibling(file).normalize();
        assertThat(Files.exists(target))
                .as("the target of the link to %s in %s", file, document)
                .isTrue();
        if (heading != null) {
            assertThat(Documents.read(target).lines().filter(line -> line.startsWith("#")))
                    .as("the headings of %s, for a link in %s", target, document)
                    .anyMatch(line -> anchor(line).equals(heading));
        }
    }

    /** As GitHub makes it. */
    private static String anchor(String heading) {
        return heading.replaceFirst("^#+ ", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }
}
