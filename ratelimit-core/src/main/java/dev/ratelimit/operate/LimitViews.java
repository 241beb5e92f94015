package dev.ratelimit.operate;

import dev.ratelimit.Limit;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.InForce;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.operate.VersionView.Authorship;
import dev.ratelimit.operate.VersionView.Difference;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.TrialNames;
import dev.ratelimit.support.Keyword;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Describes limits and rules, their sources and their versions. */
final class LimitViews {

    private static final String BASE = "base";

    private final RateLimitAdmin admin;

    LimitViews(RateLimitAdmin admin) {
        this.admin = admin;
    }

    /**
     * @param rates the requests of the last hour, those of limits on trial included
     */
    List<LimitView> limits(Predicate<String> named, List<Reports.ViolationRate> rates) {
        Map<String, InForce<Map<String, String>>> all = new LinkedHashMap<>();
        admin.limits().list().forEach(limit -> all.put(limit.name(), limit));
        Map<String, LimitView.Traffic> usage = new HashMap<>();
        rates.forEach(rate ->
                usage.put(rate.limit(), new LimitView.Traffic(rate.total(), rate.denied(), rate.deniedPercent())));
        return all.values().stream()
                .filter(limit -> named.test(limit.name()))
                .map(limit -> limit(limit, all, usage))
                .toList();
    }

    private LimitView limit(
            InForce<Map<String, String>> limit,
            Map<String, InForce<Map<String, String>>> all,
            Map<String, LimitView.Traffic> usage) {
        Map<String, LimitView.Property> properties = new LinkedHashMap<>();
        collect(limit, all, null, properties, new HashSet<>());
        Limit live = Objects.requireNonNull(admin.policy().limits().find(limit.name()), "a limit in force");
        Limit trial = live.trial();
        return new LimitView(
                limit.name(),
                !admin.policy().limits().isOff(limit.name()),
                live.algorithm().sentence(),
                List.copyOf(properties.values()),
                trial == null ? null : new LimitView.Trial(trial.algorithm().sentence(), usage.get(trial.name())),
                Source.of(limit.version()),
                usage.get(limit.name()));
    }

    /** The limit's own properties first; those of its base only where it has none. */
    private static void collect(
            InForce<Map<String, String>> limit,
            Map<String, InForce<Map<String, String>>> all,
            @Nullable String inheritedFrom,
            Map<String, LimitView.Property> properties,
            Set<String> seen) {
        Map<String, String> definition = limit.content();
        if (definition == null || !seen.add(limit.name())) {
            return;
        }
        Version<Map<String, String>> version = limit.version();
        Map<String, String> stored = version == null || version.content() == null ? Map.of() : version.content();
        definition.forEach((name, value) -> {
            boolean ownOnly = name.equals(LimitBook.ENABLED) || name.equals(BASE);
            if (inheritedFrom == null || !ownOnly) {
                Source source = stored.containsKey(name) ? Source.of(version) : Source.CONFIGURATION;
                properties.putIfAbsent(
                        name,
                        new LimitView.Property(
                                name, value, inheritedFrom == null ? source : source.inheritedFrom(inheritedFrom)));
            }
        });
        InForce<Map<String, String>> base = all.get(definition.getOrDefault(BASE, ""));
        if (base != null) {
            collect(base, all, base.name(), properties, seen);
        }
    }

    List<VersionView> limitHistory(String name) {
        InForce<Map<String, String>> inForce = admin.limits().find(name);
        return versions(
                admin.limits().history(name), inForce == null ? null : inForce.version(), definition -> definition);
    }

    List<VersionView> ruleHistory(String name) {
        InForce<Rule> inForce = admin.rules().find(name);
        return versions(admin.rules().history(name), inForce == null ? null : inForce.version(), Rule::properties);
    }

    private static <T> List<VersionView> versions(
            List<Version<T>> history, @Nullable Version<T> inForce, Function<T, Map<String, String>> properties) {
        return history.stream()
                .map(version -> version(version, inForce != null && inForce.number() == version.number(), properties))
                .toList();
    }

    static <T> VersionView version(Version<T> version, boolean inForce, Function<T, Map<String, String>> properties) {
        T content = version.content();
        return new VersionView(
                version.name(),
                version.number(),
                Keyword.of(version.state()),
                inForce,
                content == null ? Map.of() : new LinkedHashMap<>(properties.apply(content)),
                version.problem(),
                Authorship.of(version));
    }

    /** All rules in the order of evaluation, then those that are switched off. */
    List<RuleView> rules() {
        List<RuleView> rules = new ArrayList<>();
        for (InForce<Rule> rule : admin.rules().list()) {
            Rule content = rule.content();
            Version<Rule> version = rule.version();
            Rule shown = content != null ? content : version == null ? null : version.content();
            rules.add(new RuleView(
                    content == null ? null : rules.size() + 1,
                    rule.name(),
                    content != null,
                    shown == null ? Map.of() : shown.properties(),
                    Source.of(version)));
        }
        return rules;
    }

    /** Requests are counted under some names that belong to no definition. */
    @Nullable
    String derivation(String name) {
        Collection<String> names = admin.policy().limits().names();
        if (Quota.isPart(name)) {
            return "'" + name + "' is a part of the quota, which tiers and users have: see ratelimit.tiers.quotas";
        }
        if (TrialNames.isTrial(name)) {
            return "'" + name + "' counts the trial of a limit; look at the limit itself";
        }
        int colon = name.lastIndexOf(':');
        if (colon > 0 && names.contains(name.substring(0, colon))) {
            return "'" + name + "' is a multiple of limit '" + name.substring(0, colon)
                    + "', for failed logins; look at that limit, or set properties of '" + name + "' to replace it";
        }
        return null;
    }

    Difference limitDifference(String name, int from, int to) {
        return Difference.of(
                name,
                from,
                admin.limits().definition(name, from),
                to,
                admin.limits().definition(name, to));
    }

    Difference ruleDifference(String name, int from, int to) {
        return Difference.of(name, from, ruleProperties(name, from), to, ruleProperties(name, to));
    }

    private Map<String, String> ruleProperties(String name, int version) {
        Rule rule = admin.rules().version(name, version);
        return rule == null ? Map.of() : rule.properties();
    }
}
