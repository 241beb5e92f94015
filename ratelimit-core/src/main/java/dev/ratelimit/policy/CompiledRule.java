package dev.ratelimit.policy;

import dev.ratelimit.Limits;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.setting.InvalidSettingException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/** A rule with its pattern parsed, and with what follows from its parts. */
final class CompiledRule {

    private static final Pattern LITERAL = Pattern.compile("[A-Za-z0-9._-]+");

    final Rule rule;

    /** The segments that every matching path begins with. */
    final List<String> prefix;

    private final PathPattern pattern;
    private final boolean anyPath;

    /** Whether it ends the walk when it matches. */
    final boolean ends;

    /** Whether it takes the caller to know if it matches. */
    final boolean matchNeedsCaller;

    /** Whether it takes the caller to know if it matches, or to ask its limits. */
    final boolean needsCaller;

    CompiledRule(Rule rule, Limits limits, MatchMode mode, PathPatternParser parser) {
        this.rule = rule;
        this.pattern = parse(rule, parser);
        this.anyPath = rule.conditions().path().equals(Conditions.ANY_PATH);
        this.prefix = literalPrefix(rule.conditions().path(), parser.isCaseSensitive());
        this.ends = switch (rule.action()) {
            case ALLOW, BLOCK -> true;
            case THROTTLE -> mode == MatchMode.FIRST;
            case SHADOW -> false;
        };
        this.matchNeedsCaller = rule.conditions().needCaller();
        this.needsCaller = matchNeedsCaller || (rule.action().hasLimits() && limitsNeedCaller(rule, limits));
    }

    private static boolean limitsNeedCaller(Rule rule, Limits limits) {
        return SubjectKey.parse(rule.name(), rule.key()).kind().needsCaller()
                || rule.limits().stream().anyMatch(name -> name.equals(Quota.LIMIT) || limits.variesByTier(name));
    }

    private static PathPattern parse(Rule rule, PathPatternParser parser) {
        try {
            return RuleBook.pattern(rule.conditions().path(), parser);
        } catch (InvalidSettingException e) {
            throw new InvalidRuleException(rule.name(), e);
        }
    }

    private static List<String> literalPrefix(String path, boolean caseSensitive) {
        List<String> prefix = new ArrayList<>();
        for (String segment : path.substring(1).split("/", -1)) {
            if (!LITERAL.matcher(segment).matches()) {
                break;
            }
            prefix.add(caseSensitive ? segment : withoutCase(segment));
        }
        return List.copyOf(prefix);
    }

    /**
     * The same text for all segments that are equal to {@link PathPattern} if it ignores the case: it compares as
     * {@link String#equalsIgnoreCase}, to which a dotless i is an i. {@link String#toLowerCase()} is stricter, so that such a path would
     * bypass the rule.
     */
    static String withoutCase(String segment) {
        char[] letters = segment.toCharArray();
        for (int i = 0; i < letters.length; i++) {
            letters[i] = Character.toLowerCase(Character.toUpperCase(letters[i]));
        }
        return new String(letters);
    }

    /** The first condition that the request does not meet, as far as it can be known; the cheap ones first. */
    @Nullable
    Mismatch mismatch(RequestFacts facts) {
        Conditions conditions = rule.conditions();
        if (!methodMatches(facts)) {
            return Mismatch.METHOD;
        }
        if (!conditions.apiKeyMatches(facts.apiKey())) {
            return Mismatch.API_KEY;
        }
        if (!conditions.addressMatches(facts.address())) {
            return Mismatch.ADDRESS;
        }
        if (!pathMatches(facts)) {
            return Mismatch.PATH;
        }
        Caller caller = facts.caller();
        return caller == null || !matchNeedsCaller ? null : mismatch(conditions, facts, caller);
    }

    private @Nullable Mismatch mismatch(Conditions conditions, RequestFacts facts, Caller caller) {
        if (!conditions.tierMatches(caller.tier())) {
            return Mismatch.TIER;
        }
        if (!conditions.authorityMatches(caller.authorities())) {
            return Mismatch.AUTHORITY;
        }
        if (conditions.expression() == null) {
            return null;
        }
        Predicate<Rule> expressions = facts.expressions();
        if (expressions == null) {
            return Mismatch.UNKNOWN_CONDITION;
        }
        return expressions.test(rule) ? null : Mismatch.CONDITION;
    }

    /** Whether the rule is for the method and the path of the request, whatever its other conditions are. */
    boolean isForEndpoint(RequestFacts facts) {
        return methodMatches(facts) && pathMatches(facts);
    }

    private boolean methodMatches(RequestFacts facts) {
        return rule.conditions().methodMatches(facts.method(), facts.preflight());
    }

    /**
     * Where a path has several readings, a rule that restricts needs one of them, and a rule that allows needs all. One that cannot
     * be read is only matched by rules for every path.
     */
    private boolean pathMatches(RequestFacts facts) {
        boolean all = rule.action() == Action.ALLOW;
        List<PathContainer> paths = facts.paths();
        if (paths.isEmpty()) {
            return anyPath;
        }
        for (int i = 0; i < paths.size(); i++) {
            PathContainer path = paths.get(i);
            boolean matches = (anyPath && path.value().startsWith("/")) || pattern.matches(path);
            if (matches != all) {
                return matches;
            }
        }
        return all;
    }

    /** The condition of a rule that a request does not meet. */
    enum Mismatch {
        METHOD,
        API_KEY,
        ADDRESS,
        PATH,
        TIER,
        AUTHORITY,
        CONDITION,
        /** There is no live request that the condition could be asked of. */
        UNKNOWN_CONDITION;

        /** Why the rule does not match, for people. */
        String explain(Rule rule, RequestFacts facts) {
            Conditions conditions = rule.conditions();
            Caller caller = facts.caller();
            return switch (this) {
                case METHOD -> "the method " + facts.method() + " is none of " + conditions.methods();
                case API_KEY -> {
                    ApiKey key = facts.apiKey();
                    yield (key == null ? "there is no API key" : "the API key " + key.name() + " is another")
                            + "; the rule is for " + conditions.apiKeys();
                }
                case ADDRESS ->
                    (facts.address() == null
                                    ? "no address was given; the rule is for "
                                    : "the address " + facts.address() + " lies in none of ")
                            + conditions.addresses();
                case PATH ->
                    (facts.paths().isEmpty()
                                    ? "the path cannot be read, and"
                                    : "the path " + facts.paths().get(0).value())
                            + " does not match " + conditions.path();
                case TIER ->
                    "the tier " + (caller == null ? null : caller.tier()) + " is none of " + conditions.tiers();
                case AUTHORITY ->
                    "the authorities " + (caller == null ? null : caller.authorities()) + " have none of "
                            + conditions.authorities();
                case CONDITION -> "the condition " + conditions.expression() + " is not true";
                case UNKNOWN_CONDITION ->
                    "its condition " + conditions.expression() + " cannot be known without a request";
            };
        }
    }
}
