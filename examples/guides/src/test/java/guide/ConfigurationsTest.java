package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.operate.Operations;
import dev.ratelimit.redis.RateLimitRedisAutoConfiguration;
import guide.Documents.Snippet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

/**
 * Each configuration in the documents starts an application, which keeps its counts where the configuration says. Addresses of
 * servers and folders are replaced by those of the test. Spring Security is there only if logins are limited.
 */
@ExtendWith(OutputCaptureExtension.class)
class ConfigurationsTest {

    private static final Path README = Documents.ROOT.resolve("README.md");

    private static final Path SHARDS = Documents.ROOT.resolve("docs/how-to/shards.md");

    private static final String STORE = "ratelimit.store.";

    @TempDir
    Path folder;

    static Stream<Snippet> configurations() {
        return Documents.snippets().stream()
                .filter(snippet -> snippet.language().equals("yaml"))
                .filter(snippet -> Pattern.compile("(?m)^ratelimit[.:]")
                        .matcher(snippet.code())
                        .find());
    }

    private static Map<String, Object> properties(String yaml) {
        Map<String, Object> properties = new LinkedHashMap<>();
        try {
            for (PropertySource<?> source : new YamlPropertySourceLoader()
                    .load("snippet", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))) {
                for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
                    properties.put(name, source.getProperty(name));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(properties).as("properties in %s", yaml).isNotEmpty();
        return properties;
    }

    private WebApplicationContextRunner application(Map<String, Object> properties, boolean withLogins) {
        Map<String, Object> here = new LinkedHashMap<>(properties);
        here.putIfAbsent(STORE + "sqlite.path", folder.resolve("ratelimit.db").toString());
        if (isRedis(properties)) {
            here.put("spring.data.redis.url", "redis://localhost:1");
            here.put(STORE + "required", false); // nothing listens there
        } else {
            here.put("spring.autoconfigure.exclude", RateLimitRedisAutoConfiguration.class.getName());
        }
        WebApplicationContextRunner runner = new WebApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withInitializer(context ->
                        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("snippet", here)));
        return withLogins ? runner : runner.withClassLoader(new FilteredClassLoader("org.springframework.security"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Tenants.class, Reports.class})
    static class Application {}

    private static boolean limitsLogins(Map<String, Object> properties) {
        return properties.keySet().stream().anyMatch(name -> name.startsWith("ratelimit.login."));
    }

    private static boolean isRedis(Map<String, Object> properties) {
        return "redis".equals(properties.get(STORE + "type"));
    }

    /** Such as {@code the SQLite file ratelimit.db}. */
    private static String expectedStore(Map<String, Object> properties) {
        boolean addressed =
                properties.keySet().stream().anyMatch(name -> name.matches(STORE + "postgresql\\.(url|shards\\..+)"));
        return switch (String.valueOf(properties.get(STORE + "type"))) {
            case "redis" -> "Redis";
            case "sqlite" -> "SQLite";
            case "postgresql" -> "PostgreSQL";
            default -> addressed ? "PostgreSQL" : "SQLite";
        };
    }

    /** Each address of PostgreSQL leads to a database of its own. */
    private TestDatabases reachable(Map<String, Object> properties) {
        TestDatabases databases = new TestDatabases();
        properties.replaceAll((name, value) -> {
            String text = String.valueOf(value);
            return text.startsWith("jdbc:postgresql:")
                    ? databases.urlFor(text)
                    : text.startsWith("/var/") ? folder + text : value;
        });
        return databases;
    }

    @ParameterizedTest
    @MethodSource("configurations")
    void startsAnApplicationWithTheStoreThatItNames(Snippet snippet) {
        Map<String, Object> properties = properties(snippet.code());
        try (TestDatabases databases = reachable(properties)) {
            WebApplicationContextRunner runner = application(properties, limitsLogins(properties));
            if ("postgresql".equals(properties.get(STORE + "type")) && databases.isEmpty()) {
                runner = runner.withBean(DataSource.class, databases::dataSource); // that of the application
            }
            runner.run(context -> {
                assertThat(context)
                        .as("the application with the configuration at %s", snippet)
                        .hasNotFailed();
                assertThat(context.getBean(Operations.class).status().store().name())
                        .as("the store of the configuration at %s", snippet)
                        .contains(expectedStore(properties));
                assertThat(databases.names())
                        .allSatisfy(
                                name -> assertThat(databases.query(name, "SELECT count(*) FROM ratelimit.rate_limits"))
                                        .as("rows in the tables of %s", name)
                                        .isNotEmpty());
            });
        }
    }

    /** As a reader copies the blocks, one below the other. The first one needs no Spring Security. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void firstBlocksOfTheReadmeStartWithoutAWarning(int blocks, CapturedOutput output) {
        List<Snippet> readme = configurations()
                .filter(snippet -> snippet.document().equals(README))
                .toList();
        assertThat(readme).hasSize(3);
        String yaml = readme.stream().limit(blocks).map(Snippet::code).collect(Collectors.joining());
        WebApplicationContextRunner runner = application(properties(yaml), blocks > 1);
        (blocks < 3 ? runner : runner.withUserConfiguration(Uploads.class))
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("probably a mistake");
    }

    @Test
    void queriesShowTheStateOfShards() {
        Snippet shards = configurations()
                .filter(snippet -> snippet.document().equals(SHARDS))
                .findFirst()
                .orElseThrow();
        List<String> queries = HandWrittenSqlTest.statements("shards.sql");
        assertThat(queries).hasSize(2);
        Map<String, Object> properties = properties(shards.code());
        try (TestDatabases databases = reachable(properties)) {
            application(properties, false).run(context -> {
                assertThat(databases.names()).hasSize(3);
                assertThat(databases.names())
                        .allSatisfy(name -> assertThat(databases.query(name, queries.get(0)))
                                .singleElement()
                                .asString()
                                .startsWith("1|")
                                .contains("a", "b", "c"))
                        .allSatisfy(name -> assertThat(databases.query(name, queries.get(1)))
                                .containsExactly("0"));
            });
        }
    }
}
