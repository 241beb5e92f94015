package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.autoconfigure.property.KnownProperties.Unknown;
import dev.ratelimit.support.Keyword;
import dev.ratelimit.support.Spelling;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;
import org.springframework.util.ClassUtils;

/**
 * Reports properties of ours that do not exist or have a value of another type, with the spelling that was probably meant.
 * It goes before the analyzers of Spring Boot, which know no better than to list constants of Java.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PropertyFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

    private static final ConfigurationPropertyName LIMITS = KnownProperties.ROOT.append("limits");

    private static final String BEGINNING = "Invalid rate limit configuration:\n\n";

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
        if (!KnownProperties.ROOT.equals(cause.getName()) && !KnownProperties.ROOT.isAncestorOf(cause.getName())) {
            return null;
        }
        UnboundConfigurationPropertiesException unbound =
                findCause(cause, UnboundConfigurationPropertiesException.class);
        if (unbound != null) {
            return unknown(List.copyOf(unbound.getUnboundProperties()), cause);
        }
        return findCause(cause, ConversionException.class) == null ? null : unconverted(cause);
    }

    private static @Nullable FailureAnalysis unconverted(BindException cause) {
        String below = actionBelow(cause.getName());
        ConfigurationProperty property = cause.getProperty();
        if (property == null) {
            return below == null
                    ? null
                    : new FailureAnalysis(BEGINNING + "    Property: " + cause.getName(), below, cause);
        }
        Class<?> type = cause.getTarget().getType().resolve();
        String action = below != null || type == null
                ? below
                : action(ClassUtils.resolvePrimitiveIfNecessary(type), String.valueOf(property.getValue()));
        return action == null ? null : new FailureAnalysis(description(List.of(property)), action, cause);
    }

    /** For a name that has no value of its own; {@code null} if it has. */
    private static @Nullable String actionBelow(ConfigurationPropertyName name) {
        List<String> below = KnownProperties.partsBelow(name);
        if (!below.isEmpty()) {
            return "Write its properties below it. They are " + String.join(", ", below) + ".";
        }
        return KnownProperties.isMap(name) ? "Write names of your choice below it, each with its value." : null;
    }

    private static FailureAnalysis unknown(List<ConfigurationProperty> properties, BindException cause) {
        String action = properties.stream()
                .map(property -> action(property.getName(), properties))
                .distinct()
                .collect(Collectors.joining("\n"));
        return new FailureAnalysis(description(properties), action, cause);
    }

    /**
     * The remedy for a property that does not exist.
     *
     * @param unknown all properties that do not exist
     */
    static String action(ConfigurationPropertyName name, List<ConfigurationProperty> unknown) {
        ConfigurationPropertyName list = KnownProperties.listAbove(name);
        if (list != null && KnownProperties.partsBelow(list.append("[0]")).isEmpty()) {
            return "Write [ " + name.getElement(list.getNumberOfElements(), Form.ORIGINAL) + " ]: " + list
                    + " is a list of single values.";
        }
        if (list != null) {
            return unknown.stream()
                    .filter(property -> list.isAncestorOf(property.getName()))
                    .map(property -> property.getName().getLastElement(Form.ORIGINAL) + ": " + property.getValue())
                    .collect(Collectors.joining(", ", list + " is a list: write [ { ", " } ]."));
        }
        if (LIMITS.isAncestorOf(name) && name.isNumericIndex(LIMITS.getNumberOfElements())) {
            return "Limits are a map: write each below its name, as in api: { algorithm: …, max-requests: 100, window: 1m }.";
        }
        Unknown part = KnownProperties.unknownPart(name);
        return part == null ? "Leave it out." : action(part);
    }

    private static String action(Unknown unknown) {
        if (unknown.names().isEmpty()) {
            return "Leave out '" + unknown.part() + "': " + unknown.parent() + " is a single value.";
        }
        return didYouMean(unknown.part(), unknown.names()) + "The properties of " + unknown.parent() + " are "
                + String.join(", ", unknown.names()) + ".";
    }

    private static String didYouMean(String written, List<String> known) {
        String nearest = Spelling.nearest(written, known);
        return nearest == null ? "" : "Did you mean " + nearest + "? ";
    }

    private static @Nullable String action(Class<?> type, String value) {
        if (type.isEnum()) {
            List<String> words = Arrays.stream(type.getEnumConstants())
                    .map(constant -> Keyword.of((Enum<?>) constant))
                    .toList();
            return didYouMean(value, words) + "Write one of " + String.join(", ", words) + ".";
        }
        if (type == Duration.class) {
            return "Write a time such as 500ms, 10s, 15m, 1h or 1d.";
        }
        if (type == ZoneId.class) {
            return "Write a time zone such as Europe/Berlin or UTC.";
        }
        if (type == Boolean.class) {
            return "Write true or false.";
        }
        return Number.class.isAssignableFrom(type) ? "Write a whole number." : null;
    }

    private static String description(List<ConfigurationProperty> properties) {
        return properties.stream()
                .sorted()
                .map(PropertyFailureAnalyzer::described)
                .collect(Collectors.joining("\n\n", BEGINNING, ""));
    }

    private static String described(ConfigurationProperty property) {
        Origin origin = property.getOrigin();
        // A name that is misspelt may stand for the password.
        String value = property.getName().toString().contains("pas") ? "******" : String.valueOf(property.getValue());
        return "    Property: " + property.getName() + "\n    Value: '" + value + "'"
                + (origin == null ? "" : "\n    Origin: " + origin);
    }
}
