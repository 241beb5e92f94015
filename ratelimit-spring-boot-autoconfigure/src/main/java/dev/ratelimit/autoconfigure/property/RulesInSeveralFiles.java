package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.startup.ProbableMistakes;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginProvider;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/**
 * Finds lists of rules in several files, such as one of a profile. Their first rules would become one, with properties of both.
 */
public final class RulesInSeveralFiles implements ProbableMistakes.Finder {

    private final Environment environment;

    public RulesInSeveralFiles(Environment environment) {
        this.environment = environment;
    }

    @Override
    public List<String> find() {
        if (!(environment instanceof ConfigurableEnvironment configurable)) {
            return List.of();
        }
        // Copies of one list, as beside a jar and in it, are merged to the same list.
        Map<Map<ConfigurationPropertyName, Object>, Origin> places = new LinkedHashMap<>();
        for (ConfigurationPropertySource source :
                ConfigurationPropertySources.from(configurable.getPropertySources())) {
            addList(source, places);
        }
        return places.size() < 2
                ? List.of()
                : List.of("ratelimit.rules is a list in several places, which are merged by position ("
                        + places.values().stream().map(String::valueOf).collect(Collectors.joining(" and "))
                        + "): write a map from names to rules");
    }

    /** Adds the values of a list with the place where it begins, if the source is a file and has one. */
    private static void addList(
            ConfigurationPropertySource source, Map<Map<ConfigurationPropertyName, Object>, Origin> places) {
        if (!(source instanceof IterableConfigurationPropertySource names)) {
            return;
        }
        Map<ConfigurationPropertyName, Object> values = new HashMap<>();
        Origin first = null;
        for (ConfigurationPropertyName name : names) {
            ConfigurationProperty property = NamesInLists.isInList(name) ? source.getConfigurationProperty(name) : null;
            if (property != null && isInAFile(property.getOrigin())) {
                values.put(name, property.getValue());
                first = first == null ? property.getOrigin() : first;
            }
        }
        if (first != null) {
            places.putIfAbsent(values, first);
        }
    }

    private static boolean isInAFile(@Nullable Origin origin) {
        return origin instanceof TextResourceOrigin
                || (origin instanceof OriginProvider wrapper && wrapper.getOrigin() instanceof TextResourceOrigin);
    }
}
