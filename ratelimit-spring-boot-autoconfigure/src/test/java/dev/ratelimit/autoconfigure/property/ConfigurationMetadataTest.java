package dev.ratelimit.autoconfigure.property;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.util.ClassUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Completion in editors: the metadata that is generated, with our hints in it. */
class ConfigurationMetadataTest {

    private static final Map<String, JsonNode> properties = new LinkedHashMap<>();
    private static final List<String> typesOfRules = new ArrayList<>();
    private static final Map<String, JsonNode> hints = new LinkedHashMap<>();

    @BeforeAll
    static void read() throws Exception {
        try (InputStream file =
                ConfigurationMetadataTest.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            JsonNode metadata = JsonMapper.builder().build().readTree(file);
            for (JsonNode property : metadata.get("properties")) {
                String name = property.get("name").asString();
                properties.put(name, property);
                if (name.equals("ratelimit.rules")) {
                    typesOfRules.add(property.get("type").asString());
                }
            }
            metadata.get("hints").forEach(hint -> hints.put(hint.get("name").asString(), hint));
        }
    }

    @Test
    void everyPropertyIsDescribedBySomethingOfItsOwn() {
        assertThat(properties).isNotEmpty();
        assertThat(properties.values())
                .extracting(property -> property.path("description").asString())
                .allMatch(description -> description.length() >= 15)
                .doesNotHaveDuplicates();
    }

    @Test
    void everyPropertyOfAFewWordsHasThemAsHintsWithTheirMeaning() {
        Map<String, List<String>> words = new LinkedHashMap<>();
        properties.forEach((name, property) -> {
            List<String> constants = constants(property.path("type").asString());
            if (!constants.isEmpty()) {
                words.put(name, constants);
            }
        });
        assertThat(words).containsKeys("ratelimit.store.type", "ratelimit.audit.mode", "ratelimit.on-failure");
        // Only a store that keeps counts, and is named, can be moved from.
        words.put("ratelimit.store.previous.type", List.of("sqlite", "postgresql", "redis"));
        words.forEach((name, constants) -> assertThat(hints.containsKey(name) ? values(name) : List.<String>of())
                .as(name)
                .containsExactlyInAnyOrderElementsOf(constants));
    }

    @Test
    void namesOfLimitsAndRulesAreFree() {
        assertThat(hints.get("ratelimit.limits.keys")
                        .get("providers")
                        .get(0)
                        .get("name")
                        .asString())
                .isEqualTo("any");
        assertThat(hints.get("ratelimit.rules.keys")
                        .get("providers")
                        .get(0)
                        .get("name")
                        .asString())
                .isEqualTo("any");
    }

    @Test
    void everyHintIsForAPropertyAndSaysWhatItsValuesMean() {
        assertThat(hints).isNotEmpty();
        hints.forEach((name, hint) -> {
            assertThat(properties).containsKey(name.replaceAll("\\.keys$", ""));
            for (JsonNode value : hint.get("values")) {
                assertThat(value.path("description").asString()).as(name).isNotEmpty();
            }
        });
    }

    @Test
    void everyHintCanBeWritten() {
        hints.keySet().stream().filter(name -> !name.endsWith(".keys")).forEach(name -> {
            for (String value : values(name)) {
                Binder binder = new Binder(new MapConfigurationPropertySource(Map.of(name, value)));
                assertThat(binder.bind("ratelimit", RateLimitProperties.class).isBound())
                        .as("%s=%s", name, value)
                        .isTrue();
            }
        });
    }

    /** The format has no hints for what stands in a map; editors complete it by its types, enums with their values. */
    @Test
    void wordsInLimitsAndRulesAreEnums() {
        assertThat(type(RateLimitProperties.LimitSpec.class, "algorithm"))
                .isEqualTo(RateLimitProperties.AlgorithmName.class);
        assertThat(type(RateLimitProperties.RuleSpec.class, "onFailure")).matches(Class::isEnum);
        assertThat(properties.get("ratelimit.limits").get("type").asString())
                .isEqualTo("java.util.Map<java.lang.String," + RateLimitProperties.LimitSpec.class.getName() + ">");
    }

    @Test
    void rulesAreAMapOrAList() {
        String rule = RateLimitProperties.RuleSpec.class.getName();
        assertThat(typesOfRules)
                .containsExactlyInAnyOrder(
                        "java.util.Map<java.lang.String," + rule + ">", "java.util.List<" + rule + ">");
    }

    /** The words of an enum, as they are documented; none if the type is no enum. */
    private static List<String> constants(String type) {
        Class<?> found = type.startsWith("dev.ratelimit.") ? ClassUtils.resolveClassName(type, null) : Object.class;
        return !found.isEnum()
                ? List.of()
                : Stream.of(found.getEnumConstants())
                        .map(constant -> ((Enum<?>) constant)
                                .name()
                                .toLowerCase(Locale.ROOT)
                                .replace('_', '-'))
                        .toList();
    }

    private static Class<?> type(Class<?> spec, String name) {
        for (RecordComponent component : spec.getRecordComponents()) {
            if (component.getName().equals(name)) {
                return component.getType();
            }
        }
        throw new AssertionError(spec + " has no " + name);
    }

    private static List<String> values(String name) {
        List<String> values = new ArrayList<>();
        hints.get(name)
                .get("values")
                .forEach(value -> values.add(value.get("value").asString()));
        return values;
    }
}
