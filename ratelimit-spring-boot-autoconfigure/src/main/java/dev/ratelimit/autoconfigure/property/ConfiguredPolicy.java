package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.LimitSpec;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.PenaltySpec;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.QuotaSpec;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.ResponseSpec;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.RuleSpec;
import dev.ratelimit.autoconfigure.property.RateLimitProperties.TiersSpec;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.caller.Tiers;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.Rule.Response;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.startup.SettingsWithoutEffect;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/** Converts the configuration properties to the limits, rules and tiers of the library. */
public final class ConfiguredPolicy {

    private ConfiguredPolicy() {}

    /** @param parser of the patterns of paths */
    public static PolicyConfiguration of(RateLimitProperties properties, PathPatternParser parser) {
        PolicyConfiguration configuration = new PolicyConfiguration(
                limits(properties),
                rules(properties.rules(), properties.onFailure()),
                tiers(properties.tiers()),
                properties.match(),
                parser,
                properties.onFailure());
        SettingsWithoutEffect.refuse(configuration);
        return configuration;
    }

    /** For a native image: see {@link #limits}. */
    public static void registerHints(ReflectionHints hints) {
        hints.registerType(LimitSpec.class, MemberCategory.INVOKE_DECLARED_METHODS);
    }

    /** The properties of each limit by its name, as {@link LimitBook} reads them. */
    public static Map<String, Map<String, String>> limits(RateLimitProperties properties) {
        Map<String, Map<String, String>> limits = new LinkedHashMap<>();
        properties.limits().forEach((name, spec) -> limits.put(name, definition(name, spec)));
        if (!properties.enabled()) {
            limits.put(LimitBook.ALL, Map.of(LimitBook.ENABLED, "false"));
        }
        return limits;
    }

    /** The components of {@link LimitSpec} are named as the properties that an algorithm reads. */
    private static Map<String, String> definition(String name, LimitSpec spec) {
        Map<String, String> definition = new LinkedHashMap<>();
        for (RecordComponent component : LimitSpec.class.getRecordComponents()) {
            if (component.getType() == String.class) {
                put(definition, dashed(component.getName()), text(component, spec));
            }
        }
        put(
                definition,
                "algorithm",
                spec.algorithm() == null ? null : spec.algorithm().keyword());
        put(definition, "penalties", steps(name, spec.penalties()));
        spec.tiers().forEach((tier, different) -> putDifferent(definition, "tiers." + tier + ".", different));
        putDifferent(definition, "candidate.", spec.candidate());
        return definition;
    }

    private static @Nullable String text(RecordComponent component, LimitSpec spec) {
        Method accessor = component.getAccessor();
        ReflectionUtils.makeAccessible(accessor);
        return (String) ReflectionUtils.invokeMethod(accessor, spec);
    }

    private static String dashed(String property) {
        return DataObjectPropertyName.toDashedForm(property);
    }

    private static void put(Map<String, String> definition, String property, @Nullable String value) {
        if (value != null) {
            definition.put(property, value);
        }
    }

    /** The overrides in a part of a limit. The names of its properties may have any of Boot's spellings. */
    private static void putDifferent(Map<String, String> definition, String part, Map<String, String> different) {
        different.forEach((property, value) -> definition.put(part + dashed(property), value));
    }

    private static @Nullable String steps(String limit, @Nullable List<PenaltySpec> penalties) {
        if (penalties == null) {
            return null;
        }
        List<String> steps = new ArrayList<>();
        for (int i = 0; i < penalties.size(); i++) {
            PenaltySpec step = penalties.get(i);
            String where = "penalties[" + i + "].";
            require(limit, where + "after", step.after(), "write a number of violations such as 3");
            require(limit, where + "block", step.block(), "write a time such as 5m");
            steps.add(step.after() + " -> " + step.block());
        }
        return String.join(", ", steps);
    }

    private static void require(String limit, String property, @Nullable String value, String advice) {
        if (value == null || value.isBlank()) {
            throw new InvalidLimitException(limit, property, null, advice);
        }
    }

    private static List<Rule> rules(Map<String, RuleSpec> specs, FailurePolicy onFailure) {
        List<Rule> rules = new ArrayList<>();
        specs.forEach((key, spec) -> {
            Rule rule = rule(key, spec, onFailure);
            if (spec.enabled()) {
                rules.add(rule);
            }
        });
        return rules;
    }

    private static Rule rule(String key, RuleSpec spec, FailurePolicy onFailure) {
        return Rule.named(spec.name() == null ? key : spec.name())
                .priority(spec.priority())
                .path(spec.path())
                .methods(spec.methods())
                .addresses(spec.addresses())
                .tiers(spec.tiers())
                .authorities(spec.authorities())
                .apiKeys(spec.apiKeys())
                .expression(spec.condition())
                .action(spec.action())
                .key(spec.key())
                .limits(spec.limits())
                .response(response(spec.response()))
                .onFailure(spec.onFailure() == null ? onFailure : spec.onFailure())
                .build();
    }

    private static Response response(@Nullable ResponseSpec spec) {
        return spec == null ? Response.USUAL : new Response(spec.status(), spec.message(), spec.retryAfter());
    }

    private static Tiers tiers(TiersSpec spec) {
        Map<String, Quota> quotas = new LinkedHashMap<>();
        spec.quotas().forEach((tier, quota) -> quotas.put(tier, quota(tier, quota)));
        return new Tiers(spec.defaultTier(), spec.authorities(), quotas, spec.names(), spec.zone());
    }

    private static Quota quota(String tier, QuotaSpec spec) {
        return InvalidPropertyException.under(
                "ratelimit.tiers.quotas." + tier + ".",
                () -> new Quota(
                        spec.perSecond(), spec.perHour(), spec.perDay(), spec.perMonth(), spec.burst(), spec.zone()));
    }
}
