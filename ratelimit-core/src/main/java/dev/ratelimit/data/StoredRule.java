package dev.ratelimit.data;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.admin.Change;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.Conditions;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.Response;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.SubjectKey;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Rules as they are stored. What an expression says is run, so neither a condition nor a key that is one ever comes from
 * the database: whoever can write to a table could run anything.
 */
public final class StoredRule {

    private static final long MOST_SECONDS = Duration.ofDays(3660).toSeconds();

    private StoredRule() {}

    /** Reads a rule; {@link InvalidRuleException} if it cannot be right. */
    public static Rule read(RuleVersion row) {
        String path = row.endpointPattern();
        String key = row.subjectKey();
        Rule rule = Rule.named(row.ruleName())
                .priority(row.priority())
                .action(one(Action.class, row.ruleName(), "action", row.action()))
                .path(path == null ? Conditions.ANY_PATH : path.strip())
                .methods(list(row.httpMethod()))
                .addresses(list(row.ipRange()))
                .tiers(list(row.userTier()))
                .authorities(list(row.authority()))
                .apiKeys(list(row.apiKey()))
                .key(key == null ? "user" : key.strip())
                .limits(list(row.limits()))
                .response(new Response(row.responseStatus(), row.responseMessage(), retryAfter(row)))
                .onFailure(
                        row.onFailure() == null
                                ? FailurePolicy.LOCAL
                                : one(FailurePolicy.class, row.ruleName(), "on_failure", row.onFailure()))
                .build();
        requireNoExpression(rule);
        return rule;
    }

    private static @Nullable Duration retryAfter(RuleVersion row) {
        Long seconds = row.retryAfterSeconds();
        if (seconds == null) {
            return null;
        }
        if (seconds < 0 || seconds > MOST_SECONDS) {
            throw new InvalidRuleException(
                    row.ruleName(),
                    "retry_after_seconds",
                    seconds.toString(),
                    "write a number from 0 to " + MOST_SECONDS);
        }
        return Duration.ofSeconds(seconds);
    }

    private static <E extends Enum<E>> E one(Class<E> type, String rule, String property, String written) {
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equalsIgnoreCase(written.strip())) {
                return constant;
            }
        }
        String names = Stream.of(type.getEnumConstants())
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
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

    /** The row of a rule; {@link InvalidRuleException} if it cannot be stored. */
    public static RuleVersion write(Rule rule, int version, Change change, long now) {
        requireNoExpression(rule);
        Conditions conditions = rule.conditions();
        Duration retryAfter = rule.response().retryAfter();
        if (retryAfter != null && retryAfter.toNanosPart() != 0) {
            throw new InvalidRuleException(
                    rule.name(), "response.retry-after", retryAfter.toString(), "write whole seconds");
        }
        return new RuleVersion(
                null,
                rule.name(),
                version,
                false,
                true,
                rule.priority(),
                text(rule, "tiers", conditions.tiers()),
                conditions.path(),
                text(rule, "methods", conditions.methods()),
                text(
                        rule,
                        "addresses",
                        conditions.addresses().stream()
                                .map(AddressRange::toString)
                                .toList()),
                text(rule, "authorities", conditions.authorities()),
                text(rule, "api-keys", conditions.apiKeys()),
                text(rule, "limits", rule.limits()),
                rule.key().strip(),
                rule.action().written(),
                rule.response().status(),
                rule.response().message(),
                retryAfter == null ? null : (Long) retryAfter.toSeconds(),
                rule.onFailure().name().toLowerCase(Locale.ROOT),
                change.by(),
                now,
                change.expiresAtMicros(),
                change.reason());
    }

    /** A version that does nothing but to hide a rule: that of the configuration, or the version before. */
    public static RuleVersion disabled(Rule rule, int version, Change change, long now) {
        Conditions conditions = rule.conditions();
        Rule storable = new Rule(
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
        return copy(write(storable, version, change, now), version, false, change, now);
    }

    /** The version that says that the configuration applies again. */
    public static RuleVersion removal(String name, int version, Change change, long now) {
        return new RuleVersion(
                null,
                name,
                version,
                true,
                true,
                0,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                Action.THROTTLE.written(),
                null,
                null,
                null,
                null,
                change.by(),
                now,
                change.expiresAtMicros(),
                change.reason());
    }

    /** The same content as a version of its own. */
    public static RuleVersion copy(RuleVersion row, int version, boolean enabled, Change change, long now) {
        return new RuleVersion(
                null,
                row.ruleName(),
                version,
                row.removed(),
                enabled,
                row.priority(),
                row.userTier(),
                row.endpointPattern(),
                row.httpMethod(),
                row.ipRange(),
                row.authority(),
                row.apiKey(),
                row.limits(),
                row.subjectKey(),
                row.action(),
                row.responseStatus(),
                row.responseMessage(),
                row.retryAfterSeconds(),
                row.onFailure(),
                change.by(),
                now,
                change.expiresAtMicros(),
                change.reason());
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
