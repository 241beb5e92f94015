package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.TrialNames;
import dev.ratelimit.support.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowCallbackHandler;

/** Reads reports from the database. */
final class StoredReports implements Reports {

    private static final String COUNTS =
            "sum(allowed) AS allowed, sum(throttled) AS throttled, sum(blocked) AS blocked,"
                    + " sum(exempt) AS exempt, sum(failed) AS failed";

    private static final int MOST_ROWS = 1_000;

    private final AuditDatabase database;

    /** Limits on trial deny nobody. */
    private final String onTrial;

    StoredReports(AuditDatabase database) {
        this.database = database;
        this.onTrial = TrialNames.endings().stream()
                .map(ending -> database.endsWith("resource", ending))
                .collect(Collectors.joining(" OR ", "(", ")"));
    }

    @Override
    public List<Period> timeline(@Nullable String limit, Granularity granularity, Instant from, Instant until) {
        Map<String, Object> values = Map.of(
                "granularity",
                granularity.keyword(),
                "limit",
                limit == null ? "" : limit,
                "from",
                Micros.of(from),
                "until",
                Micros.of(until));
        String where =
                " FROM " + totals() + " WHERE granularity = :granularity AND resource = :limit AND period_start >= "
                        + database.moment(":from") + " AND period_start < " + database.moment(":until");
        Map<Long, Latencies> latencies = new HashMap<>();
        database.reads()
                .query(
                        "SELECT " + database.micros("period_start") + " AS start_micros, latency" + where
                                + " AND latency IS NOT NULL",
                        values,
                        (RowCallbackHandler) row -> latencies
                                .computeIfAbsent(row.getLong("start_micros"), absent -> Latencies.ofPeriod())
                                .add(row.getBytes("latency")));
        return database.reads()
                .query(
                        "SELECT " + database.micros("period_start") + " AS start_micros, " + COUNTS + where
                                + " GROUP BY period_start ORDER BY period_start",
                        values,
                        (row, number) -> {
                            long start = row.getLong("start_micros");
                            Latencies ofPeriod = latencies.get(start);
                            return new Period(
                                    Micros.toInstant(start),
                                    TotalsSums.totals(row),
                                    ofPeriod == null ? null : ofPeriod.percentiles());
                        });
    }

    /** Names are compared by their bytes, so subjects that begin with {@code subject+} are those before {@code subject,}. */
    @Override
    public List<SubjectTimeline> timelines(String subject, Granularity granularity, Instant from, Instant until) {
        Map<String, List<Period>> byLimit = new TreeMap<>();
        database.reads()
                .query(
                        "SELECT resource, " + database.micros("period_start") + " AS start_micros, " + COUNTS + " FROM "
                                + totals() + " WHERE granularity = :granularity AND period_start >= "
                                + database.moment(":from") + " AND period_start < " + database.moment(":until")
                                + " AND (user_id = :subject OR (user_id > :first AND user_id < :last)) AND NOT "
                                + onTrial + " GROUP BY resource, period_start ORDER BY resource, period_start",
                        Map.of(
                                "granularity",
                                granularity.keyword(),
                                "from",
                                Micros.of(from),
                                "until",
                                Micros.of(until),
                                "subject",
                                subject,
                                "first",
                                subject + "+",
                                "last",
                                subject + ","),
                        (RowCallbackHandler) row -> byLimit.computeIfAbsent(
                                        row.getString("resource"), absent -> new ArrayList<>())
                                .add(new Period(
                                        Micros.toInstant(row.getLong("start_micros")), TotalsSums.totals(row), null)));
        return byLimit.entrySet().stream()
                .map(limit -> new SubjectTimeline(limit.getKey(), limit.getValue()))
                .sorted(Comparator.comparingLong(SubjectTimeline::denied)
                        .thenComparingLong(SubjectTimeline::total)
                        .reversed())
                .toList();
    }

    @Override
    public List<SubjectTotals> busiest(Instant since, int most) {
        return subjects(since, most, "sum(total) > 0", "sum(total) DESC");
    }

    @Override
    public List<SubjectTotals> mostDenied(Instant since, int most) {
        return subjects(since, most, "sum(throttled + blocked) > 0", "sum(throttled + blocked) DESC");
    }

    private List<SubjectTotals> subjects(Instant since, int most, String having, String order) {
        return database.reads()
                .query(
                        "SELECT user_id, resource, " + COUNTS + ", max(" + database.micros("last_request_at")
                                + ") AS last_micros, count(DISTINCT period_start) AS minutes FROM " + totals()
                                + sinceAnd("user_id <> '' AND NOT " + onTrial) + " GROUP BY user_id, resource HAVING "
                                + having
                                + " ORDER BY " + order + ", user_id, resource LIMIT :most",
                        Map.of("since", Micros.of(since), "most", Math.max(0, Math.min(most, MOST_ROWS))),
                        (row, number) -> new SubjectTotals(
                                row.getString("user_id"),
                                row.getString("resource"),
                                TotalsSums.totals(row),
                                Micros.toInstant(row.getLong("last_micros")),
                                row.getInt("minutes")));
    }

    @Override
    public List<LimitViolations> violations(Instant since) {
        return database.reads()
                .query(
                        "SELECT resource, sum(throttled) AS violations, sum(CASE WHEN user_id <> '' THEN throttled ELSE 0 END)"
                                + " AS of_known, count(DISTINCT nullif(user_id, '')) AS subjects FROM " + totals()
                                + sinceAnd("resource <> '' AND throttled > 0 AND NOT " + onTrial)
                                + " GROUP BY resource ORDER BY sum(throttled) DESC, resource",
                        Map.of("since", Micros.of(since)),
                        (row, number) -> {
                            long subjects = row.getLong("subjects");
                            return new LimitViolations(
                                    row.getString("resource"),
                                    row.getLong("violations"),
                                    subjects,
                                    subjects == 0 ? 0 : twoDecimals(row.getLong("of_known"), subjects));
                        });
    }

    @Override
    public List<ViolationRate> violationRates(Instant since) {
        return rates(since, "resource <> '' AND NOT " + onTrial);
    }

    @Override
    public List<ViolationRate> trialRates(Instant since) {
        return rates(since, onTrial);
    }

    private List<ViolationRate> rates(Instant since, String condition) {
        List<ViolationRate> rates = new ArrayList<>(database.reads()
                .query(
                        "SELECT resource, sum(total) AS total, sum(throttled) AS violations, sum(throttled + blocked) AS denied FROM "
                                + totals() + sinceAnd(condition) + " GROUP BY resource HAVING sum(total) > 0",
                        Map.of("since", Micros.of(since)),
                        (row, number) -> {
                            long total = row.getLong("total");
                            long violations = row.getLong("violations");
                            return new ViolationRate(
                                    row.getString("resource"),
                                    total,
                                    violations,
                                    twoDecimals(100 * violations, total),
                                    row.getLong("denied"));
                        }));
        rates.sort(Comparator.comparingDouble(ViolationRate::percent).reversed().thenComparing(ViolationRate::limit));
        return rates;
    }

    private static double twoDecimals(long dividend, long divisor) {
        return Math.round(100.0 * dividend / divisor) / 100.0;
    }

    private String sinceAnd(String condition) {
        return " WHERE granularity = 'minute' AND period_start >= " + database.moment(":since") + " AND " + condition;
    }

    private String totals() {
        return database.table(AuditDatabase.TOTALS);
    }

    @Override
    public List<AuditEntry> entries(AuditQuery query) {
        StringBuilder conditions = new StringBuilder(" WHERE logged_at >= ").append(database.moment(":since"));
        Map<String, Object> values = new HashMap<>();
        values.put("since", Micros.of(query.since()));
        values.put("most", query.most());
        AuditDecision decision = query.decision();
        require(conditions, values, "user_id", ColumnValues.text(query.user(), AuditTrail.MOST_NAME));
        requireAddress(conditions, values, query.address());
        requireSubject(conditions, values, query.subject());
        require(conditions, values, "resource", query.limit());
        require(conditions, values, "decision", decision == null ? null : decision.keyword());
        return database.reads()
                .query(
                        "SELECT t.*, " + database.micros("logged_at") + " AS logged_micros FROM "
                                + database.table(AuditDatabase.ENTRIES) + " t" + conditions
                                + " ORDER BY logged_at DESC, log_id LIMIT :most",
                        values,
                        (row, number) -> entry(row));
    }

    private void requireAddress(StringBuilder conditions, Map<String, Object> values, @Nullable String address) {
        AddressRange range = address == null ? null : AddressRange.around(address);
        if (range == null) {
            require(conditions, values, "ip_address", address);
        } else {
            conditions.append(" AND ").append(database.matchesOneOf("ip_address", range.patterns()));
        }
    }

    /** A plus sign is between the parts of a subject, and escaped within them. */
    private static void requireSubject(StringBuilder conditions, Map<String, Object> values, @Nullable String subject) {
        if (subject != null) {
            conditions.append(" AND (subject = :subject OR substr(subject, 1, :length) = :beginning)");
            String beginning = subject + "+";
            values.put("subject", subject);
            values.put("beginning", beginning);
            values.put("length", beginning.codePointCount(0, beginning.length()));
        }
    }

    private static void require(
            StringBuilder conditions, Map<String, Object> values, String column, @Nullable String value) {
        if (value != null) {
            conditions.append(" AND ").append(column).append(" = :").append(column);
            values.put(column, value);
        }
    }

    /** A row with its time as {@code logged_micros}. */
    static AuditEntry entry(ResultSet row) throws SQLException {
        int version = row.getInt("rule_version");
        Integer ruleVersion = row.wasNull() ? null : version;
        long seconds = row.getLong("retry_after_seconds");
        Duration retryAfter = row.wasNull() ? null : Duration.ofSeconds(seconds);
        return new AuditEntry(
                UUID.fromString(row.getString("log_id")),
                Micros.toInstant(row.getLong("logged_micros")),
                AuditDecision.ofKeyword(row.getString("decision")),
                row.getLong("requests"),
                new AuditEntry.Sender(
                        row.getString("user_id"), row.getString("api_key_id"), row.getString("ip_address")),
                new AuditEntry.Exchange(
                        row.getString("http_method"), row.getString("endpoint"), row.getInt("response_status")),
                new AuditEntry.Cause(
                        row.getString("rule_name"),
                        ruleVersion,
                        row.getString("resource"),
                        row.getString("subject"),
                        row.getLong("current_count"),
                        row.getLong("limit_value"),
                        retryAfter,
                        row.getBoolean("decided_locally")),
                Micros.toDuration(row.getLong("latency_micros")),
                new AuditEntry.Origin(row.getString("server_id"), row.getString("region")));
    }
}
