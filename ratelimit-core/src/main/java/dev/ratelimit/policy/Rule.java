package dev.ratelimit.policy;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.setting.Require;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Applies limits or another action to matching requests, and names the owner of their count. An invalid rule cannot be built:
 * {@link InvalidRuleException}.
 *
 * <pre>{@code
 * Rule.named("partners").priority(10).path("/api/**").addresses("203.0.113.0/24").limits("partner").key("ip").build();
 * }</pre>
 *
 * @param priority higher ones come first
 * @param key whose count it is, as written: {@code user}, {@code ip} …
 * @param limits the names of the limits; {@link Quota#LIMIT} for the quota of the caller
 * @param onFailure what to do when the store is unavailable, or {@code null}: then the setting of the application applies
 */
public record Rule(
        String name,
        int priority,
        Action action,
        Conditions conditions,
        String key,
        List<String> limits,
        Response response,
        @Nullable FailurePolicy onFailure) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}");

    /** Supported methods: HTTP and WebDAV. */
    private static final List<String> METHODS = List.of(("GET HEAD POST PUT PATCH DELETE OPTIONS TRACE QUERY"
                    + " PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK REPORT SEARCH")
            .split(" ", -1));

    public Rule {
        limits = List.copyOf(limits);
        if (!NAME.matcher(name).matches()) {
            throw new InvalidRuleException(
                    name,
                    "name",
                    name,
                    "write 1 to 100 letters, digits, '.', '_', ':', '/' or '-', a letter or digit first");
        }
        if (!conditions.path().startsWith("/")) {
            throw new InvalidRuleException(name, "path", conditions.path(), "begin it with /, as in /api/**");
        }
        for (String method : conditions.methods()) {
            if (!METHODS.contains(method)) {
                throw new InvalidRuleException(
                        name, "methods", method, "write methods of HTTP: " + String.join(", ", METHODS));
            }
        }
        if (action.hasLimits() && limits.isEmpty()) {
            throw new InvalidRuleException(name, "limits", "", "name at least one limit, as in [api]");
        }
        if (!action.hasLimits() && !limits.isEmpty()) {
            throw new InvalidRuleException(
                    name,
                    "limits",
                    String.join(", ", limits),
                    "leave them out, or write action: throttle: a rule that says " + action.keyword()
                            + " asks no limit");
        }
        requireValid(name, response);
        SubjectKey.parse(name, key);
    }

    private static void requireValid(String rule, Response response) {
        Integer status = response.status();
        if (status != null && (status < 400 || status > 599)) {
            throw new InvalidRuleException(
                    rule, "response.status", status, "write a status from 400 to 599, such as 429");
        }
        Duration retryAfter = response.retryAfter();
        if (retryAfter != null && (retryAfter.isNegative() || retryAfter.toDays() > Require.LONGEST.toDays())) {
            throw new InvalidRuleException(
                    rule, "response.retry-after", retryAfter.toString(), "write a time of at most 3660d, such as 1m");
        }
    }

    /** The properties as they are written in the configuration, without those that are as usual. */
    public Map<String, String> properties() {
        return RuleProperties.of(this);
    }

    /** A limit under the name by which this rule counts: in shadow, the rule has counts of its own. */
    public Limit counting(Limit limit) {
        return action == Action.SHADOW ? limit.renamed(TrialNames.shadowOf(limit.name())) : limit;
    }

    /** The same rule, with this failure policy if it has none. */
    Rule orOnFailure(FailurePolicy usual) {
        return onFailure != null ? this : new Rule(name, priority, action, conditions, key, limits, response, usual);
    }

    /** Starts a rule that throttles every request by the user, unless more is said. */
    public static Builder named(String name) {
        return new Builder(name);
    }

    /** Builds a rule step by step. Not thread-safe. */
    public static final class Builder {

        private final String name;
        private int priority;
        private Action action = Action.THROTTLE;
        private String path = Conditions.ANY_PATH;
        private Set<String> methods = Set.of();
        private final List<AddressRange> addresses = new ArrayList<>();
        private Set<String> tiers = Set.of();
        private Set<String> authorities = Set.of();
        private Set<String> apiKeys = Set.of();
        private @Nullable String expression;
        private String key = "user";
        private List<String> limits = List.of();
        private Response response = Response.USUAL;
        private @Nullable FailurePolicy onFailure;

        private Builder(String name) {
            this.name = name;
        }

        public Builder priority(int priority) {
            this.priority = priority;
            return this;
        }

        public Builder action(Action action) {
            this.action = action;
            return this;
        }

        public Builder path(String path) {
            this.path = path;
            return this;
        }

        public Builder methods(Collection<String> methods) {
            Set<String> upper = new LinkedHashSet<>();
            methods.forEach(method -> upper.add(method.strip().toUpperCase(Locale.ROOT)));
            this.methods = upper;
            return this;
        }

        public Builder methods(String... methods) {
            return methods(List.of(methods));
        }

        /** Ranges such as {@code 10.0.0.0/8} and single addresses. */
        public Builder addresses(Collection<String> ranges) {
            for (String range : ranges) {
                try {
                    addresses.add(AddressRange.parse(range));
                } catch (InvalidSettingException e) {
                    throw new InvalidRuleException(name, "addresses", range, e.advice());
                }
            }
            return this;
        }

        public Builder addresses(String... ranges) {
            return addresses(List.of(ranges));
        }

        public Builder tiers(Collection<String> tiers) {
            this.tiers = Set.copyOf(tiers);
            return this;
        }

        public Builder tiers(String... tiers) {
            return tiers(List.of(tiers));
        }

        public Builder authorities(Collection<String> authorities) {
            this.authorities = Set.copyOf(authorities);
            return this;
        }

        public Builder authorities(String... authorities) {
            return authorities(List.of(authorities));
        }

        /** By id or name; {@code *} for any key. */
        public Builder apiKeys(Collection<String> apiKeys) {
            this.apiKeys = Set.copyOf(apiKeys);
            return this;
        }

        public Builder apiKeys(String... apiKeys) {
            return apiKeys(List.of(apiKeys));
        }

        /** An expression over the request; must not come from stored data. */
        public Builder expression(@Nullable String expression) {
            this.expression = expression;
            return this;
        }

        public Builder key(String key) {
            this.key = key;
            return this;
        }

        public Builder limits(Collection<String> limits) {
            this.limits = List.copyOf(limits);
            return this;
        }

        public Builder limits(String... limits) {
            return limits(List.of(limits));
        }

        public Builder response(Response response) {
            this.response = response;
            return this;
        }

        /** The failure policy for when the store is unavailable; {@code null}, the default, for the setting of the application. */
        public Builder onFailure(@Nullable FailurePolicy onFailure) {
            this.onFailure = onFailure;
            return this;
        }

        public Rule build() {
            Conditions conditions = new Conditions(path, methods, addresses, tiers, authorities, apiKeys, expression);
            return new Rule(name, priority, action, conditions, key, limits, response, onFailure);
        }
    }

    /**
     * The answer of a rule to denied requests, where it differs from the usual one.
     *
     * @param status the status, or {@code null} for 429 (throttle) or 403 (block)
     * @param message the sentence for people, or {@code null} for the usual one
     * @param retryAfter the least retry-after, or {@code null} for that of the limits
     */
    public record Response(
            @Nullable Integer status,
            @Nullable String message,
            @Nullable Duration retryAfter) {

        /** The default response. */
        public static final Response USUAL = new Response(null, null, null);
    }
}
