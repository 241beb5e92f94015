package dev.ratelimit.dashboard;

import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.audit.report.Reports.Granularity;
import dev.ratelimit.operate.BlockView;
import dev.ratelimit.operate.ChangeView;
import dev.ratelimit.operate.InstanceStatus;
import dev.ratelimit.operate.LimitView;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.RuleView;
import dev.ratelimit.operate.SubjectView;
import dev.ratelimit.policy.TrialNames;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.function.ServerRequest;
import tools.jackson.databind.JsonNode;

/** The data of each screen. */
final class Reads {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);

    /** Subjects on a limit: one subject is often counted by several. */
    private static final int TOP = 50;

    private static final int PENALTIES = 50;
    private static final int ENTRIES = 50;
    private static final int FOUND = 50;
    private static final int BLOCKS = 200;
    private static final int CHANGES = 200;

    /** Limits to choose from in the chart of a subject. */
    private static final int TIMELINES = 50;

    /** Changes that are marked in the chart of all requests. */
    private static final int MARKED = 20;

    private static final int PROBLEMS = 20;

    /** Limits or rules in a table, which an open page reads again every few seconds. */
    private static final int LISTED = 100;

    /** Limits to choose from. */
    private static final int NAMES = 500;

    /** The fields of a request to explain. */
    private static final Set<String> EXPLAINED =
            new TreeSet<>(List.of("curl", "method", "path", "address", "user", "authorities", "apiKey"));

    private static final String USER = "user:";
    private static final String ADDRESS = "ip:";

    private final Operations operations;

    Reads(Operations operations) {
        this.operations = operations;
    }

    /** Every answer says when it was made, and how this instance is. */
    private ScreenData screen() {
        InstanceStatus status = operations.status();
        return new ScreenData().with("at", operations.now()).with("health", Health.of(status, operations.isEnabled()));
    }

    /** All that is known without the database. It is here at once, also while the rest of a screen waits for a database that is gone. */
    Object health(ServerRequest request) {
        return fromMemory().json();
    }

    private ScreenData fromMemory() {
        return screen().with("enabled", operations.isEnabled())
                .with("status", operations.status())
                .with("problems", first(PROBLEMS, operations.problems(), Object::toString))
                .with("problemCount", operations.problems().size());
    }

    Object now(ServerRequest request) {
        String limit = parameter(request, "limit");
        String range = range(request);
        return fromMemory()
                .with("limits", first(NAMES, operations.limitNames(), name -> name))
                .with("limitCount", operations.limitNames().size())
                .with("timeline", () -> timeline(limit, range))
                .with("hour", () -> timeline(null, "hour"))
                .with("mostDenied", () -> operations.mostDenied(HOUR, TOP))
                .with("busiest", () -> operations.busiest(HOUR, TOP))
                .with("penalties", () -> operations.penalties(PENALTIES))
                .with("penaltyCount", operations::penaltyCount)
                .with("changes", () -> operations.changes(ChangeLog.Query.newest(MARKED)))
                .json();
    }

    private static String range(ServerRequest request) {
        return request.param("range").orElse("hour");
    }

    private Map<String, Object> timeline(@Nullable String limit, String range) {
        Granularity granularity = granularity(range);
        Duration last = last(granularity);
        return timeline(granularity, operations.timeline(limit, granularity, last));
    }

    /** The limits that a subject used in that time, each with its timeline. */
    private List<Map<String, Object>> timelines(String subject, String range) {
        Granularity granularity = granularity(range);
        return first(TIMELINES, operations.timelines(subject, granularity, last(granularity)), found -> {
            Map<String, Object> timeline = timeline(granularity, found.periods());
            timeline.put("limit", found.limit());
            return timeline;
        });
    }

    private static Granularity granularity(String range) {
        return switch (range) {
            case "hour" -> Granularity.MINUTE;
            case "day" -> Granularity.HOUR;
            case "month" -> Granularity.DAY;
            default -> throw new IllegalArgumentException("the range is '" + range + "'; write hour, day or month");
        };
    }

    private static Duration last(Granularity granularity) {
        return switch (granularity) {
            case MINUTE -> HOUR;
            case HOUR -> DAY;
            case DAY -> Duration.ofDays(30);
        };
    }

    private Map<String, Object> timeline(Granularity granularity, List<?> periods) {
        Instant until = operations.now();
        Map<String, Object> timeline = new LinkedHashMap<>();
        timeline.put("granularity", granularity.keyword());
        timeline.put("from", until.minus(last(granularity)));
        timeline.put("until", until);
        timeline.put("periods", periods);
        return timeline;
    }

    /** The limits whose name has the text of the filter, and the rules that have it in their name or a property. */
    Object limits(ServerRequest request) {
        String filter = request.param("filter").orElse("").strip().toLowerCase(Locale.ROOT);
        List<String> limits = operations.limitNames().stream()
                .filter(name -> has(filter, name))
                .toList();
        Set<String> listed = Set.copyOf(first(LISTED, limits, name -> name));
        List<RuleView> rules = operations.rules().stream()
                .filter(rule -> has(filter, rule.name())
                        || rule.properties().values().stream().anyMatch(value -> has(filter, value)))
                .toList();
        return screen().with("enabled", operations.isEnabled())
                .with("limits", operations.limits(listed::contains))
                .with("limitCount", limits.size())
                .with("rules", first(LISTED, rules, rule -> rule))
                .with("ruleCount", rules.size())
                .json();
    }

    private static boolean has(String filter, String text) {
        return text.toLowerCase(Locale.ROOT).contains(filter);
    }

    private static <T, R> List<R> first(int most, List<T> all, Function<T, R> shown) {
        return all.stream().limit(most).map(shown).toList();
    }

    /** The violations of each limit in the last 24 hours. */
    Object violations(ServerRequest request) {
        return screen().with("violations", () -> first(LISTED, operations.violations(DAY), row -> row))
                .json();
    }

    Object limit(ServerRequest request) {
        String name = required(request, "name");
        LimitView limit = operations.limit(name);
        if (limit == null) {
            String derivation = operations.derivation(name);
            throw RefusedException.of(
                    404,
                    derivation == null ? "No limit is named " + name + "." : RefusedException.sentence(derivation));
        }
        return screen().with("limit", limit)
                .with("history", () -> operations.limitHistory(name))
                .with("timeline", () -> timeline(name, range(request)))
                .with(
                        "trial",
                        () -> limit.trial() == null ? null : timeline(TrialNames.candidateOf(name), range(request)))
                .json();
    }

    Object rule(ServerRequest request) {
        String name = required(request, "name");
        RuleView rule = operations.rule(name);
        if (rule == null) {
            throw RefusedException.of(404, "No rule is named " + name + ".");
        }
        return screen().with("rule", rule)
                .with("history", () -> operations.ruleHistory(name))
                .json();
    }

    Object difference(ServerRequest request) {
        String name = required(request, "name");
        int from = number(request, "from");
        int to = number(request, "to");
        boolean ofRule = required(request, "kind").equals("rule");
        return screen().with(
                        "difference",
                        ofRule ? operations.ruleDifference(name, from, to) : operations.limitDifference(name, from, to))
                .json();
    }

    Object subjects(ServerRequest request) {
        String prefix = required(request, "prefix");
        List<String> found = operations.searchSubjects(prefix, FOUND + 1);
        return screen().with("subjects", first(FOUND, found, subject -> subject))
                .with("more", found.size() > FOUND)
                .with("exact", operations.meant(prefix))
                .json();
    }

    Object subject(ServerRequest request) {
        SubjectView subject = operations.subject(required(request, "text"));
        String text = subject.subject();
        return screen().with("subject", subject)
                .with("block", subject.block())
                .with("canBlock", text.startsWith(USER) || text.startsWith(ADDRESS))
                .with("timelines", () -> timelines(text, range(request)))
                .with("audit", () -> operations.audit(text, DAY, ENTRIES))
                .json();
    }

    /** The users and addresses that are blocked now. */
    Object blocks(ServerRequest request) {
        List<BlockView> blocks = operations.blocks(BLOCKS + 1);
        return screen().with("blocks", first(BLOCKS, blocks, block -> block))
                .with("more", blocks.size() > BLOCKS)
                .json();
    }

    /** The newest changes, or those before the oldest one that the page has. */
    Object changes(ServerRequest request) {
        String before = parameter(request, "before");
        List<ChangeView> found = operations.changes(
                new ChangeLog.Query(before == null ? null : (Long) id(before), null, null, CHANGES + 1));
        return screen().with("changes", first(CHANGES, found, change -> change))
                .with("more", found.size() > CHANGES)
                .json();
    }

    private static long id(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw RefusedException.of(400, "The parameter before must be a whole number.");
        }
    }

    /** Explains a request that is described, or that of a {@code curl} line. */
    Object explain(ServerRequest request, JsonNode body, Operator operator) {
        Json.requireOnly(body, EXPLAINED);
        String curl = text(body, "curl");
        if (curl != null) {
            return screen().with("explanation", operations.explainCurl(curl, text(body, "address")))
                    .json();
        }
        String method = text(body, "method");
        String path = text(body, "path");
        Set<String> authorities = Stream.of(
                        String.valueOf(body.path("authorities").asString("")).split(","))
                .map(String::strip)
                .filter(authority -> !authority.isEmpty())
                .collect(Collectors.toSet());
        Inquiry inquiry = new Inquiry(
                method == null ? "GET" : method,
                path == null ? "/" : path,
                text(body, "address"),
                text(body, "user"),
                authorities,
                text(body, "apiKey"));
        return screen().with("explanation", operations.explain(inquiry)).json();
    }

    /** A text that is not empty, or {@code null}. */
    static @Nullable String text(JsonNode body, String name) {
        JsonNode value = body.get(name);
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isString()) {
            throw RefusedException.invalid(name, "It must be a text.");
        }
        String text = value.asString().strip();
        return text.isEmpty() ? null : text;
    }

    private static @Nullable String parameter(ServerRequest request, String name) {
        return request.param(name)
                .map(String::strip)
                .filter(text -> !text.isEmpty())
                .orElse(null);
    }

    private static String required(ServerRequest request, String name) {
        String value = parameter(request, name);
        if (value == null) {
            throw RefusedException.of(400, "The parameter " + name + " is missing.");
        }
        return value;
    }

    private static int number(ServerRequest request, String name) {
        try {
            return Integer.parseInt(required(request, name));
        } catch (NumberFormatException e) {
            throw RefusedException.of(400, "The parameter " + name + " must be a whole number.");
        }
    }
}
