package dev.ratelimit.autoconfigure;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.InvalidLimitException;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.autoconfigure.RateLimitProperties.LimitSpec;
import dev.ratelimit.autoconfigure.RateLimitProperties.PenaltySpec;
import dev.ratelimit.autoconfigure.RateLimitProperties.RuleSpec;
import dev.ratelimit.rule.InvalidRuleException;
import dev.ratelimit.rule.Rule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes limits and rules of what is written in the configuration. */
final class ConfiguredLimits {

    private final Map<String, LimitSpec> specs;

    ConfiguredLimits(Map<String, LimitSpec> specs) {
        this.specs = specs;
    }

    Limits limits() {
        List<Limit> limits = new ArrayList<>();
        for (String name : specs.keySet()) {
            limits.add(Limit.fromProperties(name, properties(name, new LinkedHashSet<>())));
        }
        return Limits.of(limits);
    }

    /** The properties of a limit, those of its base first. */
    private Map<String, String> properties(String name, Set<String> descendants) {
        LimitSpec spec = specs.get(name);
        Map<String, String> properties = new LinkedHashMap<>();
        if (spec == null) {
            return properties;
        }
        String base = spec.base();
        if (base != null) {
            descendants.add(name);
            if (descendants.contains(base)) {
                throw new InvalidLimitException(
                        name,
                        "base",
                        base,
                        "name a limit that is not based on this one (" + String.join(" -> ", descendants) + " -> "
                                + base + ")");
            }
            if (!specs.containsKey(base)) {
                throw new InvalidLimitException(
                        name, "base", base, "name one of " + String.join(", ", new TreeSet<>(specs.keySet())));
            }
            properties.putAll(properties(base, descendants));
        }
        put(
                properties,
                "algorithm",
                spec.algorithm() == null ? null : spec.algorithm().written());
        put(properties, "max-requests", spec.maxRequests());
        put(properties, "window", spec.window());
        put(properties, "zone", spec.zone());
        put(properties, "burst", spec.burst());
        put(properties, "refill", spec.refill());
        put(properties, "capacity", spec.capacity());
        put(properties, "drain", spec.drain());
        put(properties, "max-wait", spec.maxWait());
        put(properties, "cost", spec.cost());
        put(properties, "min-interval", spec.minInterval());
        put(properties, "penalties", tiers(name, spec.penalties()));
        put(properties, "forget-after", spec.forgetAfter());
        put(properties, "lease", spec.lease());
        return properties;
    }

    private static void put(Map<String, String> properties, String name, @Nullable String value) {
        if (value != null) {
            properties.put(name, value);
        }
    }

    private static @Nullable String tiers(String limit, @Nullable List<PenaltySpec> penalties) {
        if (penalties == null) {
            return null;
        }
        List<String> tiers = new ArrayList<>();
        for (int i = 0; i < penalties.size(); i++) {
            PenaltySpec tier = penalties.get(i);
            require(limit, "penalties[" + i + "].after", tier.after(), "write a number of violations such as 3");
            require(limit, "penalties[" + i + "].block", tier.block(), "write a time such as 5m");
            tiers.add(tier.after() + " -> " + tier.block());
        }
        return String.join(", ", tiers);
    }

    private static void require(String limit, String property, @Nullable String value, String advice) {
        if (value == null || value.isBlank()) {
            throw new InvalidLimitException(limit, property, null, advice);
        }
    }

    /** The rules, each of whose limits must exist. */
    static List<Rule> rules(Map<String, RuleSpec> specs, FailurePolicy onFailure, Limits limits) {
        List<Rule> rules = new ArrayList<>();
        for (Map.Entry<String, RuleSpec> entry : specs.entrySet()) {
            RuleSpec spec = entry.getValue();
            String name = spec.name() == null ? entry.getKey() : spec.name();
            if (spec.path() == null) {
                throw new InvalidRuleException(name, "path", null, "write a path pattern such as /api/**");
            }
            for (String limit : spec.limits()) {
                if (limits.find(limit) == null) {
                    throw new InvalidRuleException(
                            name,
                            "limits",
                            limit,
                            limits.names().isEmpty()
                                    ? "define it under ratelimit.limits"
                                    : "name one of " + String.join(", ", new TreeSet<>(limits.names())));
                }
            }
            rules.add(new Rule(
                    name,
                    spec.priority(),
                    spec.path(),
                    spec.methods().stream()
                            .map(method -> method.strip().toUpperCase(Locale.ROOT))
                            .collect(Collectors.toSet()),
                    spec.key(),
                    spec.limits(),
                    spec.onFailure() == null ? onFailure : spec.onFailure()));
        }
        return rules;
    }
}
