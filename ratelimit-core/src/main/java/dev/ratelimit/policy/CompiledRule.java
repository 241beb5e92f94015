package dev.ratelimit.policy;

import dev.ratelimit.InvalidSettingException;
import dev.ratelimit.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
            prefix.add(caseSensitive ? segment : segment.toLowerCase(Locale.ROOT));
        }
        return List.copyOf(prefix);
    }

    /** Whether all is true that can be known without the caller; the cheap questions first. */
    boolean matchesWithoutCaller(RequestFacts facts) {
        Conditions conditions = rule.conditions();
        return conditions.methodMatches(facts.method(), facts.preflight())
                && conditions.apiKeyMatches(facts.apiKey())
                && conditions.addressMatches(facts.address())
                && pathMatches(facts);
    }

    /** Where a path can be read in several ways, what restricts holds for any of them, and what frees for all. */
    private boolean pathMatches(RequestFacts facts) {
        boolean all = rule.action() == Action.ALLOW;
        List<PathContainer> paths = facts.paths();
        for (int i = 0; i < paths.size(); i++) {
            PathContainer path = paths.get(i);
            boolean matches = (anyPath && path.value().startsWith("/")) || pattern.matches(path);
            if (matches != all) {
                return matches;
            }
        }
        return all;
    }

    boolean matchesCaller(RequestFacts facts, Caller caller) {
        Conditions conditions = rule.conditions();
        return conditions.tierMatches(caller.tier())
                && conditions.authorityMatches(caller.authorities())
                && (conditions.expression() == null || facts.expressions().test(rule));
    }

    /** Why it does not match, for people; {@code null} if it does. */
    @Nullable
    String mismatch(RequestFacts facts, Caller caller) {
        Conditions conditions = rule.conditions();
        if (!pathMatches(facts)) {
            return "the path " + facts.paths().get(0).value() + " does not match " + conditions.path();
        }
        if (!conditions.methodMatches(facts.method(), facts.preflight())) {
            return "the method " + facts.method() + " is none of " + conditions.methods();
        }
        if (!conditions.addressMatches(facts.address())) {
            return "the address " + facts.address() + " lies in none of " + conditions.addresses();
        }
        if (!conditions.apiKeyMatches(facts.apiKey())) {
            ApiKey key = facts.apiKey();
            return (key == null ? "there is no API key" : "the API key " + key.name() + " is another")
                    + "; the rule is for " + conditions.apiKeys();
        }
        if (!conditions.tierMatches(caller.tier())) {
            return "the tier " + caller.tier() + " is none of " + conditions.tiers();
        }
        if (!conditions.authorityMatches(caller.authorities())) {
            return "the authorities " + caller.authorities() + " have none of " + conditions.authorities();
        }
        if (conditions.expression() != null && !facts.expressions().test(rule)) {
            return "the condition " + conditions.expression() + " is not true";
        }
        return null;
    }
}
