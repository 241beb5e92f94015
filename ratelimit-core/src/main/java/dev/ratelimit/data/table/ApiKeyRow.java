package dev.ratelimit.data.table;

import dev.ratelimit.admin.ApiKeyInfo;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.caller.ApiKey;
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

/** An API key: enough to recognise it, and nothing to make it from. */
public record ApiKeyRow(
        String id,
        String keyHash,
        String name,
        String userId,
        @Nullable String tier,
        QuotaColumns quota,
        Life life,
        Use use) {

    /** From creation to revocation. Times are microseconds; zero means never. */
    public record Life(
            String createdBy,
            long createdAt,
            long expiresAt,
            long revokedAt,
            @Nullable String revokedBy) {

        public boolean isRevoked() {
            return revokedAt != 0;
        }
    }

    /** The uses that are written. */
    record Use(long lastUsedAt, long totalRequests) {

        static final Use NONE = new Use(0, 0);
    }

    public static ApiKeyRow of(String id, String keyHash, NewApiKey key, String by, Instant now) {
        Instant expiresAt = key.expiresAt();
        return new ApiKeyRow(
                id,
                keyHash,
                key.name(),
                key.owner(),
                key.tier(),
                QuotaColumns.of(key.quota()),
                new Life(by, Micros.of(now), expiresAt == null ? 0 : Micros.of(expiresAt), 0, null),
                Use.NONE);
    }

    /**
     * @param otherwise the quota, if that of the row is invalid
     */
    public ApiKey apiKey(Quota otherwise) {
        return new ApiKey(id, name, userId, tier, quota.quotaOr(otherwise));
    }

    public ApiKeyInfo info() {
        return new ApiKeyInfo(
                apiKey(Quota.NONE),
                life.createdBy,
                Micros.toInstant(life.createdAt),
                moment(life.expiresAt),
                moment(life.revokedAt),
                life.revokedBy,
                moment(use.lastUsedAt),
                use.totalRequests);
    }

    private static @Nullable Instant moment(long micros) {
        return micros == 0 ? null : Micros.toInstant(micros);
    }

    private static ApiKeyRow of(ResultSet row) throws SQLException {
        return new ApiKeyRow(
                row.getString("id"),
                row.getString("key_hash"),
                row.getString("name"),
                row.getString("user_id"),
                row.getString("tier"),
                QuotaColumns.of(row),
                new Life(
                        row.getString("created_by"),
                        row.getLong("created_at"),
                        row.getLong("expires_at"),
                        row.getLong("revoked_at"),
                        row.getString("revoked_by")),
                new Use(row.getLong("last_used_at"), row.getLong("total_requests")));
    }

    private Map<String, @Nullable Object> columns() {
        Map<String, @Nullable Object> columns = new LinkedHashMap<>();
        columns.put("id", id);
        columns.put("key_hash", keyHash);
        columns.put("name", name);
        columns.put("user_id", userId);
        columns.put("tier", tier);
        quota.putInto(columns);
        columns.put("created_by", life.createdBy);
        columns.put("created_at", life.createdAt);
        columns.put("expires_at", life.expiresAt);
        columns.put("revoked_at", life.revokedAt);
        columns.put("revoked_by", life.revokedBy);
        columns.put("last_used_at", use.lastUsedAt);
        columns.put("total_requests", use.totalRequests);
        return columns;
    }

    /** The rows of {@code api_keys}. */
    public static final class Rows {

        private final Table table;

        public Rows(Table table) {
            this.table = table;
        }

        /** The oldest first. */
        public List<ApiKeyRow> findAll() {
            return table.find("SELECT * FROM {table} ORDER BY created_at, id", Map.of(), (row, number) -> of(row));
        }

        /** The oldest first. */
        public List<ApiKeyRow> findByOwner(String user) {
            return table.find(
                    "SELECT * FROM {table} WHERE user_id = :user ORDER BY created_at, id",
                    Map.of("user", user),
                    (row, number) -> of(row));
        }

        public List<ApiKeyRow> findNotRevoked() {
            return table.find("SELECT * FROM {table} WHERE revoked_at = 0", Map.of(), (row, number) -> of(row));
        }

        public List<ApiKeyRow> find(Collection<String> ids) {
            return table.find("SELECT * FROM {table} WHERE id IN (:ids)", Map.of("ids", ids), (row, number) -> of(row));
        }

        public Optional<ApiKeyRow> find(String id) {
            return find(List.of(id)).stream().findFirst();
        }

        public void insert(ApiKeyRow row) {
            table.insert(row.columns());
        }

        /** Writes no other column: uses may be added at the same time. */
        public void revoke(String id, long at, String by) {
            table.update(
                    "UPDATE {table} SET revoked_at = :at, revoked_by = :by WHERE id = :id",
                    Map.of("id", id, "at", at, "by", by));
        }

        /** Writes no other column, so that it is not taken for a change of the key. */
        public void addUse(String id, long requests, long at) {
            table.update("""
                    UPDATE {table}
                    SET total_requests = total_requests + :requests,
                        last_used_at = CASE WHEN last_used_at < :at THEN :at ELSE last_used_at END
                    WHERE id = :id
                    """, Map.of("id", id, "requests", requests, "at", at));
        }
    }
}
