package dev.ratelimit.policy;

import dev.ratelimit.Limits;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.CompiledRule.Mismatch;
import dev.ratelimit.setting.InvalidSettingException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.PathContainer.PathSegment;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/**
 * All rules, compiled. Patterns are parsed once, and a request is compared only with the rules whose path begins as its
 * own does: the literal segments that patterns begin with form a tree, and each of its nodes knows, in order, the rules
 * of its own and of all above it. Immutable.
 *
 * <p>Rules are walked in the order of their priority. Those that say throttle or shadow are collected; with
 * {@link MatchMode#FIRST} the first that says throttle ends the walk, and one that says allow or block always does.
 *
 * <p>Rules that need no caller are decided before authentication, so that a flood does not reach it. The walk therefore
 * has two steps, and their result is that of one walk with all facts. A rule that needs the caller is left open. If it might
 * end the walk, so are all rules behind it.
 */
public final class RuleBook {

    /** A question mark is any character in a pattern, so this would be a rule that matches nothing. */
    private static final Pattern QUERY = Pattern.compile("\\?[^/{}]*=");

    private final List<CompiledRule> compiled;
    private final List<Rule> rules;
    private final boolean caseSensitive;
    private final Node root;
    private final Set<String> givenBack;

    private static final class Node {

        private final Map<String, Node> children = new HashMap<>();
        private List<CompiledRule> rules = new ArrayList<>();

        /** Adds the rules of the nodes above. */
        private void inherit(List<CompiledRule> fromAbove, Comparator<CompiledRule> order) {
            rules.addAll(fromAbove);
            rules.sort(order);
            rules = List.copyOf(rules);
            children.values().forEach(child -> child.inherit(rules, order));
        }
    }

    private RuleBook(List<CompiledRule> compiled, boolean caseSensitive) {
        this.compiled = compiled;
        this.rules = compiled.stream().map(one -> one.rule).toList();
        this.caseSensitive = caseSensitive;
        this.givenBack = givenBack(compiled);
        this.root = new Node();
        Map<CompiledRule, Integer> positions = new HashMap<>();
        for (CompiledRule one : compiled) {
            positions.put(one, positions.size());
            Node node = root;
            for (String segment : one.prefix) {
                node = node.children.computeIfAbsent(segment, name -> new Node());
            }
            node.rules.add(one);
        }
        root.inherit(List.of(), Comparator.comparing(positions::get));
    }

    /** Compiles rules; those of equal priority keep their order. Each limit that they name must exist. */
    public static RuleBook of(Collection<Rule> rules, Limits limits, MatchMode mode, PathPatternParser parser) {
        Set<String> names = new HashSet<>();
        List<CompiledRule> compiled = new ArrayList<>();
        for (Rule rule : rules) {
            if (!names.add(rule.name())) {
                throw new InvalidRuleException(rule.name(), "name", rule.name(), "give each rule a name of its own");
            }
            requireLimits(rule, limits);
            compiled.add(new CompiledRule(rule, limits, mode, parser));
        }
        compiled.sort(Comparator.comparingInt((CompiledRule one) -> one.rule.priority())
                .reversed());
        return new RuleBook(List.copyOf(compiled), parser.isCaseSensitive());
    }

    /** Reads a path pattern, and refuses one that could never match. */
    public static PathPattern pattern(String path, PathPatternParser parser) {
        if (!path.startsWith("/")) {
            throw new InvalidSettingException("path", path, "begin it with /, as in /api/**");
        }
        if (QUERY.matcher(path).find()) {
            throw new InvalidSettingException(
                    "path", path, "leave out what follows the ?: it is matched with the path, which has no parameters");
        }
        try {
            return parser.parse(path);
        } catch (PatternParseException e) {
            throw new InvalidSettingException(
                    "path", path, "write a path pattern such as /api/** (" + e.getMessage() + ")");
        }
    }

    private static void requireLimits(Rule rule, Limits limits) {
        for (String limit : rule.limits()) {
            if (!limit.equals(Quota.LIMIT) && limits.find(limit) == null) {
                throw new InvalidRuleException(
                        rule.name(),
                        "limits",
                        limit,
                        limits.names().isEmpty()
                                ? "define it under ratelimit.limits"
                                : "name one of " + String.join(", ", new TreeSet<>(limits.names())));
            }
        }
    }

    /**
     * The limits that are asked before the caller is known, if later rules may reject the caller. Those may be rules for other paths:
     * a path can have several readings.
     */
    private static Set<String> givenBack(List<CompiledRule> compiled) {
        if (compiled.stream().noneMatch(one -> one.needsCaller)) {
            return Set.of();
        }
        return compiled.stream()
                .filter(one -> !one.needsCaller)
                .flatMap(one -> one.rule.limits().stream())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Whether a charge on the limit of that name is given back if a rule that needs the caller rejects the request. */
    public boolean mayBeGivenBack(String limit) {
        return givenBack.contains(limit);
    }

    /** In the order in which they are walked. */
    public List<Rule> rules() {
        return rules;
    }

    /** The rules for that method and path, in order, whatever their other conditions are: some sender may meet them. */
    public List<Rule> rulesFor(String method, PathReadings path) {
        RequestFacts facts = new RequestFacts(method, false, path.all(), null, null, null, null);
        return compiled.stream()
                .filter(one -> one.isForEndpoint(facts))
                .map(one -> one.rule)
                .toList();
    }

    /** Walks the rules, as far as the facts allow. */
    public RuleMatch match(RequestFacts facts) {
        List<PathContainer> paths = facts.paths();
        return walk(paths.size() == 1 ? rulesAt(paths.get(0)) : compiled, facts, null);
    }

    /** Walks the open rules, now that the caller is known. */
    public RuleMatch resume(RuleMatch before, RequestFacts facts) {
        Objects.requireNonNull(facts.caller(), "the caller must be known by now");
        return walk(before.open, facts, null);
    }

    /**
     * The one walk: a rule that does not match, and the reason, come from the same comparison.
     *
     * @param trace collects every rule, also behind the one that ends the walk; {@code null} to collect none
     */
    private static RuleMatch walk(List<CompiledRule> rules, RequestFacts facts, @Nullable List<WalkedRule> trace) {
        boolean callerKnown = facts.caller() != null;
        List<Rule> matching = List.of();
        List<CompiledRule> open = List.of();
        Rule end = null;
        CompiledRule last = null;
        for (int i = 0; i < rules.size() && (last == null || trace != null); i++) {
            CompiledRule one = rules.get(i);
            Mismatch mismatch = one.mismatch(facts);
            if (trace != null) {
                trace.add(WalkedRule.of(one.rule, mismatch, last, facts));
            }
            if (mismatch != null || last != null) {
                continue;
            }
            if (one.needsCaller && !callerKnown) {
                open = open.isEmpty() ? new ArrayList<>(4) : open;
                open.add(one);
                if (one.ends && one.matchNeedsCaller) {
                    open.addAll(rules.subList(i + 1, rules.size()));
                }
            } else if (one.rule.action().hasLimits()) {
                matching = matching.isEmpty() ? new ArrayList<>(4) : matching;
                matching.add(one.rule);
            } else {
                end = one.rule;
            }
            last = one.ends ? one : null;
        }
        return new RuleMatch(matching, end, open);
    }

    private List<CompiledRule> rulesAt(PathContainer path) {
        Node node = root;
        List<PathContainer.Element> elements = path.elements();
        for (int i = 0; i < elements.size(); i++) {
            if (elements.get(i) instanceof PathSegment segment) {
                String value = segment.valueToMatch();
                Node child = node.children.get(caseSensitive ? value : CompiledRule.withoutCase(value));
                if (child == null) {
                    break;
                }
                node = child;
            }
        }
        return node.rules;
    }

    /**
     * A rule, and whether it applies.
     *
     * @param applies whether it decides the request
     * @param why the reason
     */
    public record WalkedRule(Rule rule, boolean applies, String why) {

        private static WalkedRule of(
                Rule rule, @Nullable Mismatch mismatch, @Nullable CompiledRule last, RequestFacts facts) {
            if (mismatch != null) {
                return new WalkedRule(rule, false, mismatch.explain(rule, facts));
            }
            if (last != null) {
                Action action = last.rule.action();
                return new WalkedRule(
                        rule,
                        false,
                        "the rule " + last.rule.name() + ", which comes before, says " + action.keyword()
                                + (action == Action.THROTTLE ? " first" : ""));
            }
            return new WalkedRule(rule, true, "it matches");
        }
    }

    /** Every rule in order: whether it applies to a request whose caller is known, and why. */
    public List<WalkedRule> explain(RequestFacts facts) {
        Objects.requireNonNull(facts.caller(), "the caller must be known");
        List<WalkedRule> walked = new ArrayList<>(compiled.size());
        RuleMatch unused = walk(compiled, facts, walked);
        return walked;
    }

    /** Which of the throttling rules that match a request apply to it. */
    public enum MatchMode {

        /** All of them, together. */
        ALL,

        /** The one of highest priority. */
        FIRST
    }
}
