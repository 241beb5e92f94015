package dev.ratelimit.autoconfigure.property;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.autoconfigure.property.RateLimitProperties.LimitSpec;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.RuleSpec;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code docs/configuration.md} lists every property, and none that does not exist. */
class ConfigurationDocumentTest {

    @Test
    void everyPropertyIsInTheDocumentWithItsDefault() throws Exception {
        Set<String> documented = firstColumns("ratelimit\\.[a-z0-9.-]+");
        Set<String> known = new TreeSet<>();
        for (JsonNode property : metadata().get("properties")) {
            String name = property.get("name").asString();
            if (name.startsWith("management.")) {
                continue; // Spring Boot's own for every endpoint: docs/endpoint.md names them
            }
            known.add(name);
            assertThat(property.path("description").asString()).isNotEmpty();
        }
        known.removeAll(Set.of("ratelimit.limits", "ratelimit.rules"));

        assertThat(documented).isEqualTo(known);
    }

    @Test
    void everyPropertyOfALimitAndOfARuleIsInTheDocument() throws Exception {
        Set<String> known = new TreeSet<>();
        for (Class<?> spec : new Class<?>[] {LimitSpec.class, RuleSpec.class}) {
            for (RecordComponent component : spec.getRecordComponents()) {
                known.add(kebabCase(component.getName()));
            }
        }

        assertThat(firstColumns("[a-z-]+")).containsAll(known);
    }

    private static Set<String> firstColumns(String pattern) throws Exception {
        Set<String> names = new TreeSet<>();
        Pattern.compile("(?m)^\\| `(" + pattern + ")` \\|")
                .matcher(Files.readString(Path.of("../docs/configuration.md")))
                .results()
                .forEach(row -> names.add(row.group(1)));
        return names;
    }

    private static String kebabCase(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    private static JsonNode metadata() throws Exception {
        try (InputStream file =
                ConfigurationDocumentTest.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            return JsonMapper.builder().build().readTree(file);
        }
    }
}
