package dev.ratelimit.data.table;

import dev.ratelimit.admin.version.Version;
import dev.ratelimit.setting.InvalidLimitException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A version of a limit.
 *
 * @param definition the lines of the definition; {@code null} if the configuration applies again
 */
public record LimitRow(
        @Nullable Long id,
        String resource,
        int version,
        @Nullable String definition,
        VersionColumns stored) {

    public static LimitRow of(Version<Map<String, String>> version) {
        Map<String, String> definition = version.content();
        return new LimitRow(
                null,
                version.name(),
                version.number(),
                definition == null ? null : Definition.text(definition),
                VersionColumns.of(version));
    }

    public Version<Map<String, String>> toVersion() {
        if (definition == null) {
            return toVersion(Version.State.REMOVED, null, null);
        }
        try {
            return toVersion(Version.State.SET, Definition.parse(resource, definition), null);
        } catch (InvalidLimitException e) {
            return toVersion(Version.State.BROKEN, null, e.getMessage());
        }
    }

    private Version<Map<String, String>> toVersion(
            Version.State state, @Nullable Map<String, String> content, @Nullable String problem) {
        return new Version<>(
                resource,
                version,
                state,
                content,
                problem,
                stored.change(),
                stored.at(),
                id == null ? Version.NOT_STORED : id);
    }

    private static LimitRow of(ResultSet row) throws SQLException {
        return new LimitRow(
                row.getLong("id"),
                row.getString("resource"),
                row.getInt("version"),
                row.getString("definition"),
                VersionColumns.of(row));
    }

    /** The rows of {@code rate_limit_configs}. */
    public static final class Rows {

        private final Table table;

        public Rows(Table table) {
            this.table = table;
        }

        /** By name, and the newest first. */
        public List<LimitRow> findAll() {
            return table.find(
                    "SELECT * FROM {table} ORDER BY resource, version DESC", Map.of(), (row, number) -> of(row));
        }

        /** The newest first. */
        public List<LimitRow> find(String resource) {
            return table.find(
                    "SELECT * FROM {table} WHERE resource = :resource ORDER BY version DESC",
                    Map.of("resource", resource),
                    (row, number) -> of(row));
        }

        /** Returns the row with its id. */
        public LimitRow insert(LimitRow row) {
            Map<String, @Nullable Object> columns = new LinkedHashMap<>();
            columns.put("resource", row.resource);
            columns.put("version", row.version);
            columns.put("definition", row.definition);
            row.stored.putInto(columns);
            return new LimitRow(table.insertNumbered(columns), row.resource, row.version, row.definition, row.stored);
        }
    }
}
