package dev.ratelimit.actuate;

import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.audit.report.Reports.Granularity;
import dev.ratelimit.operate.InstanceStatus;
import dev.ratelimit.operate.LimitView;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.RuleView;
import dev.ratelimit.operate.VersionView;
import dev.ratelimit.operate.VersionView.Difference;
import dev.ratelimit.setting.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The reads of the endpoint. They charge nothing, and return a bounded number of rows, except of limits and rules. */
final class EndpointReads {

    static final String EXPLAIN = "explain";

    private static final String USUAL_TIME = "1h";
    private static final int USUAL_ROWS = 100;

    private static final Set<String> SECTIONS = new TreeSet<>(List.of(
            "limits",
            "rules",
            "users",
            "addresses",
            "keys",
            "subjects",
            "search",
            "blocks",
            "penalties",
            "changes",
            "busiest",
            "denied",
            "violations",
            "rates",
            "timeline",
            "audit",
            "backups",
            "retention",
            EXPLAIN));

    private final Operations operations;

    EndpointReads(Operations operations) {
        this.operations = operations;
    }

    /**
     * Which rows to return.
     *
     * @param last the time to look back, or {@code null} for the usual one
     * @param most the largest number of rows, or {@code null} for the usual one
     * @param before the id of the oldest row that was seen, or {@code null}
     */
    record Rows(
            @Nullable String last,
            @Nullable String most,
            @Nullable String before) {

        Duration time() {
            return Durations.parse("last", last == null ? USUAL_TIME : last, Durations.ADVICE);
        }

        int number() {
            return most == null ? USUAL_ROWS : wholeNumber("most", most);
        }

        @Nullable
        Long id() {
            return before == null ? null : (Long) longNumber("before", before);
        }
    }

    static int wholeNumber(String name, String text) {
        long number = longNumber(name, text);
        return number > Integer.MAX_VALUE ? Integer.MAX_VALUE : (int) Math.max(Integer.MIN_VALUE, number);
    }

    private static long longNumber(String name, String text) {
        try {
            return Long.parseLong(text.strip());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " is '" + text + "'; write a whole number", e);
        }
    }

    /**
     * The state of this instance, and the sections.
     *
     * @param enabled whether limits and rules apply at all
     * @param reports whether requests are audited, so that there are reports
     * @param problems the stored rows that are invalid and skipped
     */
    record Overview(
            boolean enabled, boolean reports, InstanceStatus instance, List<Problem> problems, Set<String> sections) {}

    Object overview() {
        return new Overview(
                operations.isEnabled(),
                operations.hasReports(),
                operations.status(),
                operations.problems().stream().limit(USUAL_ROWS).toList(),
                SECTIONS);
    }

    /**
     * @param name the name of one thing of the section, or {@code null} for all of it
     */
    Object section(String section, @Nullable String name, Rows rows) {
        if (name != null) {
            return one(section, name, rows, null, null);
        }
        Object found = switch (section) {
            case "limits" -> operations.limits();
            case "rules" -> operations.rules();
            case "blocks" -> operations.blocks(rows.number());
            case "penalties" -> operations.penalties(rows.number());
            case "changes" -> operations.changes(new ChangeLog.Query(rows.id(), null, null, rows.number()));
            case "busiest" -> operations.busiest(rows.time(), rows.number());
            case "denied" -> operations.mostDenied(rows.time(), rows.number());
            case "violations" -> operations.violations(rows.time());
            case "rates" -> operations.violationRates(rows.time());
            case "timeline" -> operations.timeline(null, granularity(rows.time()), rows.time());
            case "audit" -> operations.audit(audit(rows));
            case "backups" -> operations.backups();
            case "retention" -> operations.retention();
            case "users", "addresses", "keys", "subjects", "search" ->
                throw new IllegalArgumentException("the section " + section + " needs a name; write "
                        + Map.of(
                                        "users", "users/alice",
                                        "addresses", "addresses/203.0.113.7",
                                        "keys", "keys/ID",
                                        "subjects", "subjects/user:alice",
                                        "search", "search/user:al")
                                .get(section));
            default -> throw unknown(section);
        };
        return Map.of(section, found);
    }

    static NotFoundException unknown(String section) {
        return new NotFoundException(
                "there is no section '" + section + "'; name one of " + String.join(", ", SECTIONS));
    }

    Object one(String section, String name, Rows rows, @Nullable String from, @Nullable String to) {
        return switch (section) {
            case "limits" -> limit(name, from, to);
            case "rules" -> rule(name, from, to);
            case "users" -> operations.user(name);
            case "addresses" -> operations.address(name);
            case "keys" -> operations.apiKey(name);
            case "subjects" -> operations.subject(name);
            case "search" -> Map.of("subjects", operations.searchSubjects(name, rows.number()));
            case "changes" -> Map.of("changes", operations.changes(query(name, rows)));
            case "timeline" -> Map.of("timeline", operations.timeline(name, granularity(rows.time()), rows.time()));
            case "audit" -> Map.of("audit", operations.audit(name, rows.time(), rows.number()));
            default -> throw unknown(section);
        };
    }

    /** A limit with its versions, and the difference between two of them if it was asked for. */
    record OneLimit(
            @Nullable LimitView limit,
            List<VersionView> history,
            @Nullable Difference difference) {}

    private OneLimit limit(String name, @Nullable String from, @Nullable String to) {
        LimitView limit = operations.limit(name);
        List<VersionView> history = operations.limitHistory(name);
        if (limit == null && history.isEmpty()) {
            String derivation = operations.derivation(name);
            throw new NotFoundException(
                    derivation != null
                            ? derivation
                            : "no limit '" + name + "' is in force; name one of " + operations.limitNames());
        }
        return new OneLimit(
                limit,
                history,
                from == null && to == null
                        ? null
                        : operations.limitDifference(name, version(from, history), version(to, history)));
    }

    /** A rule with its versions, and the difference between two of them if it was asked for. */
    record OneRule(
            @Nullable RuleView rule,
            List<VersionView> history,
            @Nullable Difference difference) {}

    private OneRule rule(String name, @Nullable String from, @Nullable String to) {
        RuleView rule = operations.rule(name);
        List<VersionView> history = operations.ruleHistory(name);
        if (rule == null && history.isEmpty()) {
            throw new NotFoundException("no rule '" + name + "' is in force; name one of "
                    + operations.rules().stream().map(RuleView::name).toList());
        }
        return new OneRule(
                rule,
                history,
                from == null && to == null
                        ? null
                        : operations.ruleDifference(name, version(from, history), version(to, history)));
    }

    /** The newest version unless another is named; zero is the configuration. */
    private static int version(@Nullable String written, List<VersionView> history) {
        if (written != null) {
            return wholeNumber("version", written);
        }
        return history.isEmpty() ? 0 : history.get(0).version();
    }

    /**
     * @param written a kind, or a kind, a slash and a name
     */
    private static ChangeLog.Query query(String written, Rows rows) {
        int slash = written.indexOf('/');
        return new ChangeLog.Query(
                rows.id(),
                ChangeLog.Kind.ofKeyword(slash < 0 ? written : written.substring(0, slash)),
                slash < 0 ? null : written.substring(slash + 1),
                rows.number());
    }

    private AuditQuery audit(Rows rows) {
        return AuditQuery.since(operations.since(rows.time()), rows.number());
    }

    private static Granularity granularity(Duration time) {
        if (time.compareTo(Duration.ofHours(6)) <= 0) {
            return Granularity.MINUTE;
        }
        return time.compareTo(Duration.ofDays(14)) <= 0 ? Granularity.HOUR : Granularity.DAY;
    }

    /**
     * @param request {@code GET /api/games}, or a line that begins with {@code curl}
     */
    Object explain(@Nullable String request, @Nullable String user, @Nullable String address, @Nullable String apiKey) {
        if (request == null || request.isBlank()) {
            throw new IllegalArgumentException(
                    "the request is missing; write request=GET /api/games, or paste a curl command line");
        }
        String written = request.strip();
        if (written.startsWith("curl ")) {
            return operations.explainCurl(written, address);
        }
        int blank = written.indexOf(' ');
        if (blank < 0) {
            throw new IllegalArgumentException(
                    "the request is '" + written + "'; write its method and its path, such as GET /api/games");
        }
        return operations.explain(new Inquiry(
                written.substring(0, blank), written.substring(blank + 1).strip(), address, user, Set.of(), apiKey));
    }
}
