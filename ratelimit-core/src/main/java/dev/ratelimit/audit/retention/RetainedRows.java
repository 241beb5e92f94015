package dev.ratelimit.audit.retention;

import org.jspecify.annotations.Nullable;

/** The rows that are kept for a time of their own. They end by months (UTC). */
public enum RetainedRows {
    /** The audit trail. */
    AUDIT("audit rows", "rate_limit_audit_logs", "logged_at", "rate_limit_audit_logs", null),
    /** Totals per minute. */
    MINUTES("totals per minute", "rate_limit_metrics", "period_start", "rate_limit_metrics_minute", "minute"),
    /** Totals per hour. */
    HOURS("totals per hour", "rate_limit_metrics", "period_start", "rate_limit_metrics_hour", "hour"),
    /** Totals per day. They are few: no database has partitions of them. */
    DAYS("totals per day", "rate_limit_metrics", "period_start", null, "day");

    private final String words;
    private final String table;
    private final String timeColumn;
    private final @Nullable String partitioned;
    private final @Nullable String granularity;

    RetainedRows(
            String words, String table, String timeColumn, @Nullable String partitioned, @Nullable String granularity) {
        this.words = words;
        this.table = table;
        this.timeColumn = timeColumn;
        this.partitioned = partitioned;
        this.granularity = granularity;
    }

    String table() {
        return table;
    }

    String timeColumn() {
        return timeColumn;
    }

    /** The table on PostgreSQL that has a partition for each month. */
    @Nullable
    String partitioned() {
        return partitioned;
    }

    /** A condition that other rows of the same table do not meet. */
    String condition() {
        return granularity == null ? "" : " AND granularity = '" + granularity + "'";
    }

    /** In words. */
    @Override
    public String toString() {
        return words;
    }
}
