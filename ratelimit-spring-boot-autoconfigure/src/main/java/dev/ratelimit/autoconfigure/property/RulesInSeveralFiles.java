package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.startup.ProbableMistakes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
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
        List<String> places = new ArrayList<>();
        for (ConfigurationPropertySource source :
                ConfigurationPropertySources.from(configurable.getPropertySources())) {
            Origin place = firstRule(source);
            if (place != null) {
                places.add(place.toString());
            }
        }
        return places.size() < 2
                ? List.of()
                : List.of("ratelimit.rules is a list in several places, which are merged by position ("
                        + String.join(" and ", places) + "): write a map from names to rules");
    }

    /** Where the list begins in a file; {@code null} if this is no file, or has no list. */
    private static @Nullable Origin firstRule(ConfigurationPropertySource source) {
        return source instanceof IterableConfigurationPropertySource names
                ? names.stream()
                        .filter(NamesInLists::isInList)
                        .map(name -> Origin.from(names.getConfigurationProperty(name)))
                        .filter(RulesInSeveralFiles::isInAFile)
                        .findFirst()
                        .orElse(null)
                : null;
    }

    private static boolean isInAFile(@Nullable Origin origin) {
        return origin instanceof TextResourceOrigin
                || (origin instanceof OriginProvider wrapper && wrapper.getOrigin() instanceof TextResourceOrigin);
    }
}
