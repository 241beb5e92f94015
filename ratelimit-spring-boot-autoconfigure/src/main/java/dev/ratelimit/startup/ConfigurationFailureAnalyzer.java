package dev.ratelimit.startup;

import dev.ratelimit.annotation.InvalidRateLimitedException;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.InvalidSettingException;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/** Names the invalid property or annotation, its value, its file and line, and a remedy. */
public final class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidSettingException> {

    private static final ConfigurationPropertyName RULES = ConfigurationPropertyName.of("ratelimit.rules");

    private static final Pattern INDEX = Pattern.compile("\\d+");

    private final @Nullable Environment environment;

    /**
     * @param environment knows where properties are written; without it, that is left out
     */
    public ConfigurationFailureAnalyzer(@Nullable Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidSettingException cause) {
        String advice = cause.advice();
        return new FailureAnalysis(
                what(cause) + "\n    Value: " + cause.value() + origin(cause),
                advice.substring(0, 1).toUpperCase(Locale.ROOT) + advice.substring(1) + ".",
                cause);
    }

    private String what(InvalidSettingException cause) {
        if (cause instanceof InvalidRateLimitedException annotation) {
            return "Invalid @RateLimited annotation:\n\n    On: " + annotation.on() + "\n    Property: "
                    + annotation.property();
        }
        return "Invalid rate limit configuration:\n\n    Property: " + property(cause);
    }

    private String origin(InvalidSettingException cause) {
        if (cause instanceof InvalidRateLimitedException
                || !(environment instanceof ConfigurableEnvironment configurable)) {
            return "";
        }
        String prefix = prefix(cause);
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property(cause), '.');
        Origin origin = find(name, configurable);
        // A step of penalties is named without its index.
        if (origin == null && ConfigurationPropertyName.adapt(prefix, '.').isAncestorOf(name.getParent())) {
            origin = find(name.getParent(), configurable);
        }
        return origin == null ? "" : "\n    Origin: " + origin;
    }

    private static @Nullable Origin find(ConfigurationPropertyName name, ConfigurableEnvironment environment) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.from(environment.getPropertySources())) {
            ConfigurationProperty property = source.getConfigurationProperty(name);
            Origin origin = property == null ? belowIn(source, name) : property.getOrigin();
            if (origin != null) {
                return origin;
            }
        }
        return null;
    }

    /** The place of the first property below the name, for mistakes of several together; {@code null} if there is none. */
    private static @Nullable Origin belowIn(ConfigurationPropertySource source, ConfigurationPropertyName name) {
        return source instanceof IterableConfigurationPropertySource names
                ? names.stream()
                        .filter(name::isAncestorOf)
                        .map(names::getConfigurationProperty)
                        .map(Origin::from)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null)
                : null;
    }

    /** The full name of the property. An invalid name of a limit is a part of the name. */
    private String property(InvalidSettingException cause) {
        String prefix = prefix(cause);
        return cause instanceof InvalidLimitException && cause.property().equals(InvalidLimitException.NAME)
                ? prefix.substring(0, prefix.length() - 1)
                : prefix + cause.property();
    }

    private String prefix(InvalidSettingException cause) {
        if (cause instanceof InvalidLimitException limit) {
            return "ratelimit.limits." + limit.limit() + ".";
        }
        if (cause instanceof InvalidRuleException rule) {
            return place(rule.rule()) + ".";
        }
        return "";
    }

    private String place(String rule) {
        ConfigurationPropertyName named =
                environment instanceof ConfigurableEnvironment configurable ? named(rule, configurable) : null;
        if (named != null) {
            return named.toString();
        }
        // In a list, a rule without a name has its index for one.
        return INDEX.matcher(rule).matches() ? RULES + "[" + rule + "]" : RULES + "." + rule;
    }

    /** The rule that has this name as a property; {@code null} if it has none. */
    private static @Nullable ConfigurationPropertyName named(String rule, ConfigurableEnvironment environment) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.from(environment.getPropertySources())) {
            if (source instanceof IterableConfigurationPropertySource properties) {
                for (ConfigurationPropertyName name : properties) {
                    ConfigurationProperty property = isNameOfARule(name) ? source.getConfigurationProperty(name) : null;
                    if (property != null && rule.equals(property.getValue())) {
                        return name.getParent();
                    }
                }
            }
        }
        return null;
    }

    private static boolean isNameOfARule(ConfigurationPropertyName name) {
        return name.getNumberOfElements() == RULES.getNumberOfElements() + 2
                && RULES.isAncestorOf(name)
                && name.getLastElement(Form.UNIFORM).equals("name");
    }
}
