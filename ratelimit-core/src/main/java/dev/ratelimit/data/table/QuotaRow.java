package dev.ratelimit.data.table;

import dev.ratelimit.admin.QuotaAdmin;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.support.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The tier, the quota and the block of a user.
 *
 * @param blockedUntil the end of the block in microseconds; zero for none
 */
public record QuotaRow(
        String userId,
        @Nullable String tier,
        QuotaColumns quota,
        long blockedUntil,
        @Nullable String blockReason,
        String changedBy,
        long changedAt,
        Use use) {

    /** The requests of the user that are written. Times are microseconds; zero means never. */
    record Use(long createdAt, long lastRequestAt, long quotaExceededCount) {}

    /** A row without tier, quota and block. */
    public static QuotaRow of(String user) {
        return new QuotaRow(user, null, QuotaColumns.NONE, 0, null, "", 0, new Use(0, 0, 0));
    }

    public QuotaRow withQuota(@Nullable String newTier, Quota newQuota) {
        return new QuotaRow(
                userId, newTier, QuotaColumns.of(newQuota), blockedUntil, blockReason, changedBy, changedAt, use);
    }

    public QuotaRow withBlock(@Nullable Instant until, @Nullable String reason) {
        return new QuotaRow(
                userId, tier, quota, until == null ? 0 : Micros.of(until), reason, changedBy, changedAt, use);
    }

    public QuotaRow changed(String by, Instant at) {
        return new QuotaRow(userId, tier, quota, blockedUntil, blockReason, by, Micros.of(at), use);
    }

    public boolean isEmpty() {
        return tier == null && quota.isEmpty() && blockedUntil == 0;
    }

    /**
     * @param otherwise the quota, if that of the row is invalid
     */
    public Account account(Quota otherwise) {
        return new Account(
                userId,
                tier,
                quota.quotaOr(otherwise),
                blockedUntil == 0 ? null : Micros.toInstant(blockedUntil),
                blockReason);
    }

    public QuotaAdmin.UserQuota userQuota() {
        return new QuotaAdmin.UserQuota(
                account(Quota.NONE),
                changedBy,
                Micros.toInstant(changedAt),
                Micros.toInstant(use.createdAt),
                use.lastRequestAt == 0 ? null : Micros.toInstant(use.lastRequestAt),
                use.quotaExceededCount);
    }

    private static QuotaRow of(ResultSet row) throws SQLException {
        return new QuotaRow(
                row.getString("user_id"),
                row.getString("tier"),
                QuotaColumns.of(row),
                row.getLong("blocked_until"),
                row.getString("block_reason"),
                row.getString("changed_by"),
                row.getLong("changed_at"),
                new Use(
                        row.getLong("created_at"),
                        row.getLong("last_request_at"),
                        row.getLong("quota_exceeded_count")));
    }

    private Map<String, @Nullable Object> columns() {
        Map<String, @Nullable Object> columns = new LinkedHashMap<>();
        columns.put("user_id", userId);
        columns.put("tier", tier);
        quota.putInto(columns);
        columns.put("blocked_until", blockedUntil);
        columns.put("block_reason", blockReason);
        columns.put("changed_by", changedBy);
        columns.put("changed_at", changedAt);
        return columns;
    }

    /** The rows of {@code user_quotas}. */
    public static final class Rows {

        private final Table table;

        public Rows(Table table) {
            this.table = table;
        }

        /** By user. */
        public List<QuotaRow> findAll() {
            return table.find("SELECT * FROM {table} ORDER BY user_id", Map.of(), (row, number) -> of(row));
        }

        public List<QuotaRow> find(Collection<String> users) {
            return table.find(
                    "SELECT * FROM {table} WHERE user_id IN (:users)",
                    Map.of("users", users),
                    (row, number) -> of(row));
        }

        public Optional<QuotaRow> find(String user) {
            return find(List.of(user)).stream().findFirst();
        }

        /** It is created now, and no request has come yet. */
        public void insert(QuotaRow row) {
            Map<String, @Nullable Object> columns = row.columns();
            columns.put("created_at", row.changedAt);
            table.insert(columns);
        }

        /** Writes no other column, so that it is not taken for a change of the quota. */
        public void addUse(String user, long exceeded, long at) {
            table.update("""
                    UPDATE {table}
                    SET quota_exceeded_count = quota_exceeded_count + :exceeded,
                        last_request_at = CASE WHEN last_request_at < :at THEN :at ELSE last_request_at END
                    WHERE user_id = :user
                    """, Map.of("user", user, "exceeded", exceeded, "at", at));
        }

        public void update(QuotaRow row) {
            table.update("""
                    UPDATE {table}
                    SET tier = :tier, per_second = :per_second, per_hour = :per_hour, per_day = :per_day,
                        per_month = :per_month, burst = :burst, zone = :zone, blocked_until = :blocked_until,
                        block_reason = :block_reason, changed_by = :changed_by, changed_at = :changed_at
                    WHERE user_id = :user_id
                    """, row.columns());
        }

        public void delete(String user) {
            table.update("DELETE FROM {table} WHERE user_id = :user", Map.of("user", user));
        }
    }
}
