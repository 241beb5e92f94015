package dev.ratelimit.data.table;

import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.support.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The author, the time, the expiry, the reason and the notes of a version. The expiry is zero for never. */
record VersionColumns(
        String changedBy,
        long changedAt,
        long expiresAt,
        @Nullable String reason,
        @Nullable String metadata) {

    /** The author of a row that was written by hand without one, as in the default of the column. */
    private static final String UNKNOWN = "unknown";

    static VersionColumns of(Version<?> version) {
        Instant expiresAt = version.expiresAt();
        return new VersionColumns(
                version.by(),
                Micros.of(version.at()),
                expiresAt == null ? 0 : Micros.of(expiresAt),
                version.reason(),
                version.change().metadata());
    }

    static VersionColumns of(ResultSet row) throws SQLException {
        return new VersionColumns(
                row.getString("changed_by"),
                row.getLong("changed_at"),
                row.getLong("expires_at"),
                row.getString("reason"),
                row.getString(Table.METADATA));
    }

    void putInto(Map<String, @Nullable Object> columns) {
        columns.put("changed_by", changedBy);
        columns.put("changed_at", changedAt);
        columns.put("expires_at", expiresAt);
        columns.put("reason", reason);
        columns.put(Table.METADATA, metadata);
    }

    Change change() {
        return new Change(
                changedBy.isBlank() ? UNKNOWN : changedBy,
                expiresAt == 0 ? null : Micros.toInstant(expiresAt),
                reason,
                metadata);
    }

    Instant at() {
        return Micros.toInstant(changedAt);
    }
}
