package dev.ratelimit.policy;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.setting.Durations;
import dev.ratelimit.support.Keyword;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/** The properties of a rule, as they are written in the configuration. */
final class RuleProperties {

    private RuleProperties() {}

    static Map<String, String> of(Rule rule) {
        Map<String, String> properties = new LinkedHashMap<>();
        Conditions conditions = rule.conditions();
        properties.put("priority", Integer.toString(rule.priority()));
        properties.put("action", rule.action().keyword());
        properties.put("path", conditions.path());
        put(properties, "methods", new TreeSet<>(conditions.methods()));
        put(
                properties,
                "addresses",
                conditions.addresses().stream().map(AddressRange::toString).toList());
        put(properties, "tiers", new TreeSet<>(conditions.tiers()));
        put(properties, "authorities", new TreeSet<>(conditions.authorities()));
        put(properties, "api-keys", new TreeSet<>(conditions.apiKeys()));
        if (conditions.expression() != null) {
            properties.put("condition", conditions.expression());
        }
        if (rule.action().hasLimits()) {
            properties.put("key", rule.key());
            put(properties, "limits", rule.limits());
            FailurePolicy onFailure = rule.onFailure();
            if (onFailure != null) {
                properties.put("on-failure", Keyword.of(onFailure));
            }
        }
        putResponse(properties, rule.response());
        return properties;
    }

    private static void putResponse(Map<String, String> properties, Rule.Response response) {
        Integer status = response.status();
        Duration retryAfter = response.retryAfter();
        if (status != null) {
            properties.put("response.status", status.toString());
        }
        if (response.message() != null) {
            properties.put("response.message", response.message());
        }
        if (retryAfter != null) {
            properties.put("response.retry-after", Durations.text(retryAfter));
        }
    }

    private static void put(Map<String, String> properties, String name, Collection<String> values) {
        if (!values.isEmpty()) {
            properties.put(name, String.join(", ", values));
        }
    }
}
