package dev.ratelimit.data.table;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An entry of the change feed. Revisions ascend in the order in which changes were committed.
 *
 * @param kind one of the constants
 * @param name the limit or the rule; the user; the id of the API key; the subject
 */
public record ChangeRow(long revision, String kind, String name, long changedAt) {

    public static final long FIRST_REVISION = 1;

    public static final String LIMIT = "limit";
    public static final String RULE = "rule";
    public static final String QUOTA = "quota";
    public static final String KEY = "key";
    public static final String RESET = "reset";

    private static ChangeRow of(ResultSet row) throws SQLException {
        return new ChangeRow(
                row.getLong("revision"), row.getString("kind"), row.getString("name"), row.getLong("changed_at"));
    }

    /** The rows of {@code rate_limit_changes}. */
    public static final class Rows {

        private final Table table;

        public Rows(Table table) {
            this.table = table;
        }

        public List<ChangeRow> findFrom(long revision) {
            return table.find(
                    "SELECT * FROM {table} WHERE revision >= :revision ORDER BY revision",
                    Map.of("revision", revision),
                    (row, number) -> of(row));
        }

        public Optional<ChangeRow> findNewest() {
            return table
                    .find("SELECT * FROM {table} ORDER BY revision DESC LIMIT 1", Map.of(), (row, number) -> of(row))
                    .stream()
                    .findFirst();
        }

        /** The database assigns the revision. */
        public void add(String kind, String name) {
            table.update("INSERT INTO {table} (kind, name) VALUES (:kind, :name)", Map.of("kind", kind, "name", name));
        }

        /** Adds it where the database does not assign the revision. */
        public void add(long revision, String kind, String name) {
            table.update(
                    "INSERT INTO {table} (revision, kind, name) VALUES (:revision, :kind, :name)",
                    Map.of("revision", revision, "kind", kind, "name", name));
        }

        /** Deletes old changes, but never the newest: by that one, readers know that they have missed nothing. */
        public void deleteOlderThan(long before) {
            table.update("""
                    DELETE FROM {table}
                    WHERE changed_at < :before AND revision < (SELECT max(revision) FROM {table})
                    """, Map.of("before", before));
        }
    }
}
