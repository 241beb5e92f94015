package dev.ratelimit.data;

import dev.ratelimit.admin.version.EffectivePolicy.Versions;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.data.table.LimitRow;
import dev.ratelimit.data.table.StoredRule;
import dev.ratelimit.policy.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Caches the versions of limits and rules. Reading their history is thread-safe, the rest is not. */
final class StoredVersions {

    private final PolicyDatabase database;
    private final Map<String, List<Version<Map<String, String>>>> limits = new HashMap<>();
    private final Map<String, List<Version<Rule>>> rules = new HashMap<>();

    StoredVersions(PolicyDatabase database) {
        this.database = database;
    }

    /** The cached ones. */
    Versions cached() {
        return new Versions(limits, rules);
    }

    /** If this fails, the cached ones stay as they are. */
    void readAll() {
        Map<String, List<Version<Map<String, String>>>> allLimits =
                byName(database.limits().findAll().stream().map(LimitRow::toVersion));
        Map<String, List<Version<Rule>>> allRules =
                byName(database.rules().findAll().stream().map(StoredRule::version));
        limits.clear();
        limits.putAll(allLimits);
        rules.clear();
        rules.putAll(allRules);
    }

    private static <T> Map<String, List<Version<T>>> byName(Stream<Version<T>> versions) {
        Map<String, List<Version<T>>> byName = new LinkedHashMap<>();
        versions.forEach(version -> byName.computeIfAbsent(version.name(), name -> new ArrayList<>())
                .add(version));
        return byName;
    }

    void read(Set<String> limitNames, Set<String> ruleNames) {
        limitNames.forEach(name -> limits.put(name, limitHistory(name)));
        ruleNames.forEach(name -> rules.put(name, ruleHistory(name)));
    }

    /** As it is in the database, the newest first. */
    List<Version<Map<String, String>>> limitHistory(String name) {
        return database.limits().find(name).stream().map(LimitRow::toVersion).toList();
    }

    /** As it is in the database, the newest first. */
    List<Version<Rule>> ruleHistory(String name) {
        return database.rules().find(name).stream().map(StoredRule::version).toList();
    }
}
