package dev.ratelimit.data.table;

import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.support.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The rows of {@code rate_limit_admin_logs}. They are only ever added. */
public final class ChangeLogRows {

    private final Table table;

    public ChangeLogRows(Table table) {
        this.table = table;
    }

    public void add(
            Instant at, ChangeLog.Target target, Change change, @Nullable String before, @Nullable String after) {
        Instant expiresAt = change.expiresAt();
        Map<String, @Nullable Object> columns = new LinkedHashMap<>();
        columns.put("changed_at", Micros.of(at));
        columns.put("changed_by", change.by());
        columns.put("action", target.action());
        columns.put("kind", target.kind().keyword());
        columns.put("name", target.name());
        columns.put("reason", change.reason());
        columns.put("expires_at", expiresAt == null ? 0 : Micros.of(expiresAt));
        columns.put("state_before", before);
        columns.put("state_after", after);
        table.insert(columns);
    }

    /** The newest first. */
    public List<ChangeLog.LoggedChange> find(ChangeLog.Query query) {
        ChangeLog.Kind kind = query.kind();
        Map<String, Object> values = Map.of(
                "before", query.before() == null ? Long.MAX_VALUE : query.before(),
                "kind", kind == null ? "" : kind.keyword(),
                "name", query.name() == null ? "" : query.name(),
                "most", query.most());
        return table.find("""
                SELECT * FROM {table}
                WHERE id < :before AND (:kind = '' OR kind = :kind) AND (:name = '' OR name = :name)
                ORDER BY id DESC LIMIT :most
                """, values, (row, number) -> of(row));
    }

    private static ChangeLog.LoggedChange of(ResultSet row) throws SQLException {
        long expiresAt = row.getLong("expires_at");
        return new ChangeLog.LoggedChange(
                row.getLong("id"),
                Micros.toInstant(row.getLong("changed_at")),
                new Change(
                        row.getString("changed_by"),
                        expiresAt == 0 ? null : Micros.toInstant(expiresAt),
                        row.getString("reason"),
                        null),
                new ChangeLog.Target(
                        row.getString("action"),
                        ChangeLog.Kind.ofKeyword(row.getString("kind")),
                        row.getString("name")),
                row.getString("state_before"),
                row.getString("state_after"));
    }
}
