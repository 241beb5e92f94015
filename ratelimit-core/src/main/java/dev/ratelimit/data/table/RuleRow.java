package dev.ratelimit.data.table;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A version of a rule. Lists are separated by commas. See {@link StoredRule}.
 *
 * @param removed whether the configuration applies again
 */
public record RuleRow(
        @Nullable Long id,
        String ruleName,
        int version,
        boolean removed,
        boolean enabled,
        Matching matching,
        Effect effect,
        VersionColumns stored) {

    /** The requests that the rule applies to. A column without value restricts nothing. */
    record Matching(
            @Nullable String userTier,
            @Nullable String endpointPattern,
            @Nullable String httpMethod,
            @Nullable String ipRange,
            @Nullable String authority,
            @Nullable String apiKey) {

        static final Matching ALL = new Matching(null, null, null, null, null, null);
    }

    /** The action of the rule, and the details of a denial. */
    record Effect(
            int priority,
            @Nullable String limits,
            @Nullable String subjectKey,
            String action,
            @Nullable Integer responseStatus,
            @Nullable String responseMessage,
            @Nullable Long retryAfterSeconds,
            @Nullable String onFailure) {}

    private static RuleRow of(ResultSet row) throws SQLException {
        return new RuleRow(
                row.getLong("id"),
                row.getString("rule_name"),
                row.getInt("version"),
                row.getBoolean("removed"),
                row.getBoolean("enabled"),
                new Matching(
                        row.getString("user_tier"),
                        row.getString("endpoint_pattern"),
                        row.getString("http_method"),
                        row.getString("ip_range"),
                        row.getString("authority"),
                        row.getString("api_key")),
                new Effect(
                        row.getInt("priority"),
                        row.getString("limits"),
                        row.getString("subject_key"),
                        row.getString("action"),
                        Table.intOrNull(row, "response_status"),
                        row.getString("response_message"),
                        Table.longOrNull(row, "retry_after_seconds"),
                        row.getString("on_failure")),
                VersionColumns.of(row));
    }

    private Map<String, @Nullable Object> columns() {
        Map<String, @Nullable Object> columns = new LinkedHashMap<>();
        columns.put("rule_name", ruleName);
        columns.put("version", version);
        columns.put("removed", removed);
        columns.put("enabled", enabled);
        columns.put("user_tier", matching.userTier);
        columns.put("endpoint_pattern", matching.endpointPattern);
        columns.put("http_method", matching.httpMethod);
        columns.put("ip_range", matching.ipRange);
        columns.put("authority", matching.authority);
        columns.put("api_key", matching.apiKey);
        columns.put("priority", effect.priority);
        columns.put("limits", effect.limits);
        columns.put("subject_key", effect.subjectKey);
        columns.put("action", effect.action);
        columns.put("response_status", effect.responseStatus);
        columns.put("response_message", effect.responseMessage);
        columns.put("retry_after_seconds", effect.retryAfterSeconds);
        columns.put("on_failure", effect.onFailure);
        stored.putInto(columns);
        return columns;
    }

    /** The rows of {@code rate_limit_rules}. */
    public static final class Rows {

        private final Table table;

        public Rows(Table table) {
            this.table = table;
        }

        /** By name, and the newest first. */
        public List<RuleRow> findAll() {
            return table.find(
                    "SELECT * FROM {table} ORDER BY rule_name, version DESC", Map.of(), (row, number) -> of(row));
        }

        /** The newest first. */
        public List<RuleRow> find(String ruleName) {
            return table.find(
                    "SELECT * FROM {table} WHERE rule_name = :name ORDER BY version DESC",
                    Map.of("name", ruleName),
                    (row, number) -> of(row));
        }

        /** Returns the row with its id. */
        public RuleRow insert(RuleRow row) {
            return new RuleRow(
                    table.insertNumbered(row.columns()),
                    row.ruleName,
                    row.version,
                    row.removed,
                    row.enabled,
                    row.matching,
                    row.effect,
                    row.stored);
        }
    }
}
