package dev.ratelimit.autoconfigure.property;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.AlgorithmName;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.LimitSpec;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.setting.InvalidLimitException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/**
 * The algorithms own the names of their properties. The record that editors complete, and its conversion, list the same ones.
 */
class LimitPropertyNamesTest {

    /** The numbers of all algorithms: each refuses those of the others. */
    private static final Map<String, String> NUMBERS =
            Map.of("max-requests", "5", "window", "1m", "burst", "5", "refill", "1/s", "capacity", "5", "drain", "1/s");

    @Test
    void everyPropertyOfAnAlgorithmCanBeWrittenAndIsPassedOn() {
        Set<String> known = new TreeSet<>(Set.of(LimitBook.ENABLED, "base"));
        Algorithms.names().forEach(algorithm -> known.addAll(propertiesOf(algorithm)));

        assertThat(componentsOfLimitSpec()).as("the components of LimitSpec").isEqualTo(known);
        assertThat(passedOn())
                .as("the properties that ConfiguredPolicy passes on")
                .isEqualTo(known);
    }

    @Test
    void everyAlgorithmCanBeWritten() {
        assertThat(Stream.of(AlgorithmName.values()).map(AlgorithmName::keyword))
                .containsExactlyElementsOf(Algorithms.names());
    }

    /** The properties that an algorithm names when it refuses one that it does not have. */
    private static Set<String> propertiesOf(String algorithm) {
        Map<String, String> properties = new TreeMap<>(NUMBERS);
        properties.put("algorithm", algorithm);
        InvalidLimitException refused =
                catchThrowableOfType(InvalidLimitException.class, () -> Algorithms.limit("x", properties));
        assertThat(refused.advice()).startsWith("leave it out: " + algorithm + " takes ");
        String list = refused.advice().substring(refused.advice().indexOf(" takes ") + " takes ".length());
        return new TreeSet<>(Arrays.asList(list.split(", ")));
    }

    private static Set<String> componentsOfLimitSpec() {
        Set<String> names = new TreeSet<>();
        for (RecordComponent component : LimitSpec.class.getRecordComponents()) {
            if (component.getType() != Map.class) { // tiers and candidate hold the same properties once more
                names.add(DataObjectPropertyName.toDashedForm(component.getName()));
            }
        }
        return names;
    }

    /** The properties of a limit in which each is set. */
    private static Set<String> passedOn() {
        Map<String, String> properties = new TreeMap<>();
        for (String name : componentsOfLimitSpec()) {
            properties.put("ratelimit.limits.x." + name, "1");
        }
        properties.put("ratelimit.limits.x.algorithm", Algorithms.names().get(0));
        properties.remove("ratelimit.limits.x.penalties");
        properties.put("ratelimit.limits.x.penalties[0].after", "1");
        properties.put("ratelimit.limits.x.penalties[0].block", "1m");
        RateLimitProperties bound = new Binder(new MapConfigurationPropertySource(properties))
                .bind("ratelimit", RateLimitProperties.class)
                .get();
        return new TreeSet<>(ConfiguredPolicy.limits(bound).get("x").keySet());
    }
}
