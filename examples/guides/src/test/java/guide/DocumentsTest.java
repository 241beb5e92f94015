package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import guide.Documents.Snippet;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

/**
 * The code in the documents is the code that the tests of this module run. {@code -Ddocuments.update=true} copies it into the
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

    /** The code of this page is held to the tests of ratelimit-test, by a test there. */
    private static final Path TESTING = Documents.ROOT.resolve("docs/how-to/testing.md");

    static Stream<Snippet> code() {
        return Documents.snippets().stream()
                .filter(snippet -> COMPILED.contains(snippet.language()))
                .filter(snippet -> !snippet.document().equals(TESTING));
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

    static Stream<Snippet> configurations() {
        return Documents.snippets().stream()
                .filter(snippet -> snippet.language().equals("yaml"))
                .filter(snippet -> Pattern.compile("(?m)^ratelimit[.:]")
                        .matcher(snippet.code())
                        .find());
    }

    /**
     * With a store of its own and without stored policies, so that no database is needed. Logins need Spring Security: they are
     * shown by the example of that name.
     */
    @ParameterizedTest
    @MethodSource("configurations")
    void configurationStartsAnApplication(Snippet snippet) throws IOException {
        List<PropertySource<?>> sources = new YamlPropertySourceLoader()
                .load("snippet", new ByteArrayResource(snippet.code().getBytes(StandardCharsets.UTF_8)));
        Map<String, Object> properties = new LinkedHashMap<>();
        for (PropertySource<?> source : sources) {
            for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
                properties.put(name, source.getProperty(name));
            }
        }
        properties.keySet().removeIf(name -> name.startsWith("ratelimit.login."));
        assertThat(properties).as("properties in %s", snippet).isNotEmpty();
        new WebApplicationContextRunner()
                .withPropertyValues("ratelimit.changes.enabled=false")
                .withUserConfiguration(Application.class)
                .withBean(LimitStore.class, MemoryLimitStore::new)
                .withBean(ApiKeys.class, () -> secret -> null)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("snippet", properties)))
                .run(context -> assertThat(context)
                        .as("the configuration at %s", snippet)
                        .hasNotFailed());
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Tenants.class)
    static class Application {}

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
