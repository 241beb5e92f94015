package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.setting.InvalidPropertyException;
import java.util.List;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Refuses properties of rules in a list that do not exist. Spring Boot reports them for each property of a rule, but not for
 * what stands below one: {@code ratelimit.rules[0].response.mesage} would have no effect.
 */
public final class NamesInLists {

    private static final ConfigurationPropertyName RULES = KnownProperties.ROOT.append("rules");

    private static final UnboundElementsSourceFilter SOURCES = new UnboundElementsSourceFilter();

    private NamesInLists() {}

    public static void require(Environment environment) {
        if (environment instanceof ConfigurableEnvironment configurable) {
            for (ConfigurationPropertySource source :
                    ConfigurationPropertySources.from(configurable.getPropertySources())) {
                if (source instanceof IterableConfigurationPropertySource properties && SOURCES.apply(source)) {
                    require(properties);
                }
            }
        }
    }

    private static void require(IterableConfigurationPropertySource properties) {
        for (ConfigurationPropertyName name : properties) {
            ConfigurationProperty property =
                    isInList(name) && isUnknown(name) ? properties.getConfigurationProperty(name) : null;
            if (property != null) {
                throw new InvalidPropertyException(name.toString(), property.getValue(), advice(property));
            }
        }
    }

    private static String advice(ConfigurationProperty property) {
        String action = PropertyFailureAnalyzer.action(property.getName(), List.of(property));
        return StringUtils.uncapitalize(action.substring(0, action.length() - 1));
    }

    static boolean isInList(ConfigurationPropertyName name) {
        return RULES.isAncestorOf(name) && name.isNumericIndex(RULES.getNumberOfElements());
    }

    private static boolean isUnknown(ConfigurationPropertyName name) {
        return KnownProperties.unknownPart(name) != null || KnownProperties.listAbove(name) != null;
    }
}
