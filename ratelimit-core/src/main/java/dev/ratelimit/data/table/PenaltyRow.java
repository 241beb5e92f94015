package dev.ratelimit.data.table;

import dev.ratelimit.admin.PenaltyAdmin;
import dev.ratelimit.support.Micros;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The violations of a subject ({@code userId}) on a limit ({@code resource}), which together are its key. Stores write
 * this table; here only the notes of operators are.
 */
public record PenaltyRow(
        String userId,
        String resource,
        long violationCount,
        long lastViolationAt,
        long penaltyUntil,
        @Nullable String metadata) {

    public PenaltyAdmin.Penalty penalty() {
        return new PenaltyAdmin.Penalty(
                userId,
                resource,
                violationCount,
                Micros.toInstant(lastViolationAt),
                Micros.toInstant(penaltyUntil),
                metadata);
    }

    /** The rows of {@code rate_limit_penalties}. */
    public static final class Rows {

        private final Table table;

        public Rows(Table table) {
            this.table = table;
        }

        /** The longest first. */
        public List<PenaltyRow> findEndingAfter(long now, int most) {
            return table.find(
                    "SELECT * FROM {table} WHERE penalty_until > :now ORDER BY penalty_until DESC LIMIT :most",
                    Map.of("now", now, "most", most),
                    (row, number) -> new PenaltyRow(
                            row.getString("user_id"),
                            row.getString("resource"),
                            row.getLong("violation_count"),
                            row.getLong("last_violation_at"),
                            row.getLong("penalty_until"),
                            row.getString(Table.METADATA)));
        }

        /** How many there are of each limit. */
        public Map<String, Long> countEndingAfter(long now) {
            Map<String, Long> counts = new HashMap<>();
            table.find(
                            "SELECT resource, count(*) AS penalties FROM {table} WHERE penalty_until > :now GROUP BY resource",
                            Map.of("now", now),
                            (row, number) -> Map.entry(row.getString("resource"), row.getLong("penalties")))
                    .forEach(count -> counts.put(count.getKey(), count.getValue()));
            return counts;
        }

        /** Returns whether there is such a row. */
        public boolean note(String user, String resource, String metadata) {
            return table.update(
                            "UPDATE {table} SET metadata = {metadata} WHERE user_id = :user AND resource = :resource",
                            Map.of("user", user, "resource", resource, Table.METADATA, metadata))
                    > 0;
        }
    }
}
