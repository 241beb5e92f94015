package dev.ratelimit.rule;

import dev.ratelimit.InvalidSettingException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import org.springframework.web.util.pattern.PatternParseException;

/**
 * All rules, compiled: patterns are parsed once, and a request is compared only with the rules whose path begins as its
 * own does. Immutable.
 */
public final class RuleBook {

    /** Those that applications answer, and those of WebDAV. */
    private static final List<String> METHODS = List.of(("GET HEAD POST PUT PATCH DELETE OPTIONS TRACE QUERY"
                    + " PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK REPORT SEARCH")
            .split(" ", -1));

    private record Compiled(
            Rule rule, PathPattern pattern, @Nullable String firstSegment) {}

    private final List<Rule> rules;
    private final List<Compiled> compiled;

    /** By the first segment of their path: the rules that name it and those that name none, in order. */
    private final Map<String, List<Compiled>> byFirstSegment = new HashMap<>();

    private final List<Compiled> anyFirstSegment;

    private RuleBook(List<Compiled> compiled) {
        this.rules = compiled.stream().map(Compiled::rule).toList();
        this.compiled = compiled;
        this.anyFirstSegment =
                compiled.stream().filter(one -> one.firstSegment == null).toList();
        for (Compiled named : compiled) {
            if (named.firstSegment != null) {
                byFirstSegment.computeIfAbsent(
                        named.firstSegment,
                        segment -> compiled.stream()
                                .filter(one -> one.firstSegment == null || one.firstSegment.equals(segment))
                                .toList());
            }
        }
    }

    /** Compiles rules; those of equal priority keep their order. Letters of another case are another path. */
    public static RuleBook of(Collection<Rule> rules) {
        return of(rules, PathPatternParser.defaultInstance);
    }

    /** Compiles rules whose patterns this parser reads; those of equal priority keep their order. */
    public static RuleBook of(Collection<Rule> rules, PathPatternParser parser) {
        Set<String> names = new HashSet<>();
        List<Compiled> compiled = new ArrayList<>();
        for (Rule rule : rules) {
            if (!names.add(rule.name())) {
                throw new InvalidRuleException(rule.name(), "name", rule.name(), "give each rule a name of its own");
            }
            compiled.add(compile(rule, parser));
        }
        compiled.sort(
                Comparator.comparingInt((Compiled one) -> one.rule.priority()).reversed());
        return new RuleBook(List.copyOf(compiled));
    }

    private static Compiled compile(Rule rule, PathPatternParser parser) {
        if (rule.limits().isEmpty()) {
            throw new InvalidRuleException(rule.name(), "limits", "", "name at least one limit, as in [api]");
        }
        for (String method : rule.methods()) {
            if (!METHODS.contains(method)) {
                throw new InvalidRuleException(
                        rule.name(), "methods", method, "write methods of HTTP: " + String.join(", ", METHODS));
            }
        }
        try {
            return new Compiled(
                    rule,
                    pattern(rule.path(), parser),
                    parser.isCaseSensitive() ? literalFirstSegment(rule.path()) : null);
        } catch (InvalidSettingException e) {
            throw new InvalidRuleException(rule.name(), e);
        }
    }

    /** Reads a path pattern; what could never match is refused. */
    public static PathPattern pattern(String path, PathPatternParser parser) {
        if (!path.startsWith("/")) {
            throw new InvalidSettingException("path", path, "begin it with /, as in /api/**");
        }
        try {
            return parser.parse(path);
        } catch (PatternParseException e) {
            throw new InvalidSettingException(
                    "path", path, "write a path pattern such as /api/** (" + e.getMessage() + ")");
        }
    }

    /** The first segment if it is literal and the pattern needs it. */
    private static @Nullable String literalFirstSegment(String pattern) {
        int end = pattern.indexOf('/', 1);
        String segment = end < 0 ? pattern.substring(1) : pattern.substring(1, end);
        return segment.isEmpty() || !segment.matches("[A-Za-z0-9._-]+") ? null : segment;
    }

    public List<Rule> rules() {
        return rules;
    }

    /** The rules that apply, those of higher priority first. */
    public List<Rule> match(String method, PathContainer path) {
        return match(method, List.of(path));
    }

    /** The rules that apply to a path that can be read in several ways, in any of them; of higher priority first. */
    public List<Rule> match(String method, List<PathContainer> readings) {
        List<Compiled> candidates = readings.size() == 1
                ? byFirstSegment.getOrDefault(firstSegment(readings.get(0)), anyFirstSegment)
                : compiled;
        List<Rule> matching = new ArrayList<>(4);
        for (Compiled candidate : candidates) {
            if (candidate.rule.appliesTo(method) && matchesAny(candidate.pattern, readings)) {
                matching.add(candidate.rule);
            }
        }
        return matching;
    }

    private static boolean matchesAny(PathPattern pattern, List<PathContainer> readings) {
        for (PathContainer path : readings) {
            if (pattern.matches(path)) {
                return true;
            }
        }
        return false;
    }

    private static String firstSegment(PathContainer path) {
        List<PathContainer.Element> elements = path.elements();
        return elements.size() > 1 && elements.get(1) instanceof PathContainer.PathSegment segment
                ? segment.valueToMatch()
                : "";
    }
}
