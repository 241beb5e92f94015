package dev.ratelimit.data.table;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.Conditions;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.Rule.Response;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.setting.Require;
import dev.ratelimit.support.Keyword;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the rows of rules. Expressions are executed, so neither a condition nor a key that is one is ever
 * read from the database: write access to a table would allow to run any code.
 */
public final class StoredRule {

    private static final long MOST_SECONDS = Require.LONGEST.toSeconds();

    /** The columns of a version without a rule. */
    private static final RuleRow.Effect NO_EFFECT =
            new RuleRow.Effect(0, null, null, Action.THROTTLE.keyword(), null, null, null, null);

    private StoredRule() {}

    public static Version<Rule> version(RuleRow row) {
        if (row.removed()) {
            return version(row, Version.State.REMOVED, null, null);
        }
        Rule rule;
        try {
            rule = read(row);
        } catch (IllegalArgumentException e) {
            // A disabled rule hides that of the configuration, whatever else is in its row.
            return row.enabled()
                    ? version(row, Version.State.BROKEN, null, e.getMessage())
                    : version(row, Version.State.DISABLED, null, null);
        }
        return version(row, row.enabled() ? Version.State.SET : Version.State.DISABLED, rule, null);
    }

    private static Version<Rule> version(
            RuleRow row, Version.State state, @Nullable Rule rule, @Nullable String problem) {
        Long id = row.id();
        return new Version<>(
                row.ruleName(),
                row.version(),
                state,
                rule,
                problem,
                row.stored().change(),
                row.stored().at(),
                id == null ? Version.NOT_STORED : id);
    }

    /** Reads a rule; {@link InvalidRuleException} if it is invalid. */
    private static Rule read(RuleRow row) {
        String name = row.ruleName();
        RuleRow.Matching matching = row.matching();
        RuleRow.Effect effect = row.effect();
        String path = matching.endpointPattern();
        String key = effect.subjectKey();
        String onFailure = effect.onFailure();
        Rule rule = Rule.named(name)
                .priority(effect.priority())
                .action(one(Action.class, name, "action", effect.action()))
                .path(path == null ? Conditions.ANY_PATH : path.strip())
                .methods(list(matching.httpMethod()))
                .addresses(list(matching.ipRange()))
                .tiers(list(matching.userTier()))
                .authorities(list(matching.authority()))
                .apiKeys(list(matching.apiKey()))
                .key(key == null ? "user" : key.strip())
                .limits(list(effect.limits()))
                .response(new Response(
                        effect.responseStatus(),
                        effect.responseMessage(),
                        retryAfter(name, effect.retryAfterSeconds())))
                .onFailure(onFailure == null ? null : one(FailurePolicy.class, name, "on_failure", onFailure))
                .build();
        requireNoExpression(rule);
        return rule;
    }

    private static @Nullable Duration retryAfter(String rule, @Nullable Long seconds) {
        if (seconds == null) {
            return null;
        }
        if (seconds < 0 || seconds > MOST_SECONDS) {
            throw new InvalidRuleException(
                    rule, "retry_after_seconds", seconds.toString(), "write a number from 0 to " + MOST_SECONDS);
        }
        return Duration.ofSeconds(seconds);
    }

    private static <E extends Enum<E>> E one(Class<E> type, String rule, String property, String written) {
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equalsIgnoreCase(written.strip())) {
                return constant;
            }
        }
        String names = Stream.of(type.getEnumConstants()).map(Keyword::of).collect(Collectors.joining(", "));
        throw new InvalidRuleException(rule, property, written, "write one of " + names);
    }

    private static List<String> list(@Nullable String written) {
        return written == null
                ? List.of()
                : Arrays.stream(written.split(","))
                        .map(String::strip)
                        .filter(one -> !one.isEmpty())
                        .toList();
    }

    /** The row of a version; {@link InvalidRuleException} if it cannot be stored. */
    public static RuleRow row(Version<Rule> version) {
        boolean enabled = version.state() != Version.State.DISABLED;
        Rule rule = version.content();
        Rule stored = rule == null || enabled ? rule : withoutExpressions(rule);
        return new RuleRow(
                null,
                version.name(),
                version.number(),
                version.state() == Version.State.REMOVED,
                enabled,
                stored == null ? RuleRow.Matching.ALL : matching(stored),
                stored == null ? NO_EFFECT : effect(stored),
                VersionColumns.of(version));
    }

    private static RuleRow.Matching matching(Rule rule) {
        requireNoExpression(rule);
        Conditions conditions = rule.conditions();
        List<String> addresses =
                conditions.addresses().stream().map(AddressRange::toString).toList();
        return new RuleRow.Matching(
                text(rule, "tiers", conditions.tiers()),
                conditions.path(),
                text(rule, "methods", conditions.methods()),
                text(rule, "addresses", addresses),
                text(rule, "authorities", conditions.authorities()),
                text(rule, "api-keys", conditions.apiKeys()));
    }

    private static RuleRow.Effect effect(Rule rule) {
        Response response = rule.response();
        Duration retryAfter = response.retryAfter();
        FailurePolicy onFailure = rule.onFailure();
        if (retryAfter != null && retryAfter.toNanosPart() != 0) {
            throw new InvalidRuleException(
                    rule.name(), "response.retry-after", retryAfter.toString(), "write whole seconds");
        }
        return new RuleRow.Effect(
                rule.priority(),
                text(rule, "limits", rule.limits()),
                rule.key().strip(),
                rule.action().keyword(),
                response.status(),
                response.message(),
                retryAfter == null ? null : (Long) retryAfter.toSeconds(),
                onFailure == null ? null : Keyword.of(onFailure));
    }

    /** The columns of a disabled rule only inform: whatever cannot be stored is left out. */
    private static Rule withoutExpressions(Rule rule) {
        Conditions conditions = rule.conditions();
        return new Rule(
                rule.name(),
                rule.priority(),
                rule.action(),
                new Conditions(
                        conditions.path(),
                        conditions.methods(),
                        conditions.addresses(),
                        conditions.tiers(),
                        conditions.authorities(),
                        conditions.apiKeys(),
                        null),
                isExpression(rule) ? "user" : rule.key(),
                rule.limits(),
                new Response(rule.response().status(), rule.response().message(), null),
                rule.onFailure());
    }

    private static void requireNoExpression(Rule rule) {
        String condition = rule.conditions().expression();
        if (condition != null) {
            throw new InvalidRuleException(
                    rule.name(), "condition", condition, "write it in the configuration: no expression is ever stored");
        }
        if (isExpression(rule)) {
            throw new InvalidRuleException(
                    rule.name(),
                    "key",
                    rule.key(),
                    "write user, ip, user+ip, session, api-key or header:NAME: neither an expression nor a bean is ever"
                            + " taken from the database");
        }
    }

    private static boolean isExpression(Rule rule) {
        SubjectKey.Kind kind = SubjectKey.parse(rule.name(), rule.key()).kind();
        return kind == SubjectKey.Kind.EXPRESSION || kind == SubjectKey.Kind.BEAN;
    }

    private static @Nullable String text(Rule rule, String property, Collection<String> values) {
        for (String value : values) {
            if (value.indexOf(',') >= 0 || value.isBlank()) {
                throw new InvalidRuleException(
                        rule.name(), property, value, "write a value without a comma: a comma separates stored values");
            }
        }
        return values.isEmpty() ? null : String.join(", ", values);
    }
}
