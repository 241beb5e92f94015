package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.setting.InvalidPropertyException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/**
 * Refuses names from which Spring Boot drops characters: with {@code SCOPE_orders:read} under {@code ratelimit.tiers.authorities},
 * the tier would be for {@code SCOPE_ordersread}, which no caller has.
 */
public final class NamesInBrackets {

    private static final String PREFIX = KnownProperties.ROOT + ".";

    private static final Pattern BRACKETS = Pattern.compile("\\[[^\\]]*]");

    private static final Pattern DROPPED = Pattern.compile("[^A-Za-z0-9._-]");

    private NamesInBrackets() {}

    public static void require(Environment environment) {
        if (environment instanceof ConfigurableEnvironment configurable) {
            for (PropertySource<?> source : configurable.getPropertySources()) {
                if (source instanceof EnumerablePropertySource<?> properties) {
                    require(properties);
                }
            }
        }
    }

    private static void require(EnumerablePropertySource<?> properties) {
        for (String name : properties.getPropertyNames()) {
            if (name.startsWith(PREFIX)) {
                Matcher dropped = DROPPED.matcher(BRACKETS.matcher(name).replaceAll(""));
                if (dropped.find()) {
                    throw new InvalidPropertyException(
                            name,
                            properties.getProperty(name),
                            "write the part with '" + dropped.group()
                                    + "' in brackets and quotes, as in \"[SCOPE_orders:read]\": Spring Boot drops such"
                                    + " characters from a name without brackets");
                }
            }
        }
    }
}
