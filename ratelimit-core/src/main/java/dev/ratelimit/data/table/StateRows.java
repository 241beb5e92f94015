package dev.ratelimit.data.table;

import dev.ratelimit.admin.PolicyStorage.StateName;
import dev.ratelimit.admin.SubjectAdmin.StoredState;
import dev.ratelimit.support.Micros;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The state of subjects ({@code user_id}) on limits ({@code resource}), in {@code rate_limits} and
 * {@code rate_limit_penalties}. Stores write it; here it is only read and deleted, along the primary keys.
 */
public final class StateRows {

    /** Appended to a prefix, sorts after every text with that prefix, in the order of bytes that both databases use. */
    private static final String LAST = Character.toString(Character.MAX_CODE_POINT);

    /** A reset leaves an empty row, and a subject that has moved to another shard leaves a mark. */
    private static final String WITH_STATE = "AND algorithm <> '' AND algorithm NOT LIKE 'moved:%'";

    /** The maximum number of keys per statement; SQLite bounds parameters. */
    private static final int MOST_KEYS = 500;

    private final Table counts;
    private final Table penalties;

    public StateRows(Table counts, Table penalties) {
        this.counts = counts;
        this.penalties = penalties;
    }

    public List<String> findSubjects(String prefix, int most) {
        TreeSet<String> found = new TreeSet<>(findSubjects(counts, WITH_STATE, prefix, most));
        found.addAll(findSubjects(penalties, "", prefix, most));
        return found.stream().limit(most).toList();
    }

    private static List<String> findSubjects(Table table, String condition, String prefix, int most) {
        return table.find(
                """
                SELECT DISTINCT user_id FROM {table}
                WHERE user_id >= :first AND user_id <= :last %s
                ORDER BY user_id LIMIT :most
                """.formatted(condition),
                Map.of("first", prefix, "last", prefix + LAST, "most", most),
                (row, number) -> row.getString("user_id"));
    }

    /** The state of the subject itself, and of those that begin with it and {@code +}; not what has expired. */
    public List<StoredState> find(String subject, long now, int most) {
        Map<String, Object> values = Map.of(
                "subject", subject, "first", subject + '+', "last", subject + '+' + LAST, "now", now, "most", most);
        Map<String, StoredState> found = new TreeMap<>();
        counts.find(
                        """
                SELECT user_id, resource, last_request_at FROM {table}
                WHERE (user_id = :subject OR (user_id >= :first AND user_id <= :last)) AND expires_at > :now
                    AND algorithm <> '' AND algorithm NOT LIKE 'moved:%'
                ORDER BY user_id, resource LIMIT :most
                """,
                        values,
                        (row, number) -> new StoredState(
                                row.getString("user_id"),
                                row.getString("resource"),
                                Micros.toInstant(row.getLong("last_request_at")),
                                0,
                                null,
                                null))
                .forEach(state -> found.put(key(state), state));
        penalties
                .find(
                        """
                SELECT user_id, resource, violation_count, last_violation_at, penalty_until FROM {table}
                WHERE (user_id = :subject OR (user_id >= :first AND user_id <= :last)) AND forget_at > :now
                ORDER BY user_id, resource LIMIT :most
                """,
                        values,
                        (row, number) -> new StoredState(
                                row.getString("user_id"),
                                row.getString("resource"),
                                null,
                                row.getLong("violation_count"),
                                Micros.toInstant(row.getLong("last_violation_at")),
                                row.getLong("penalty_until") == 0
                                        ? null
                                        : Micros.toInstant(row.getLong("penalty_until"))))
                .forEach(state -> found.merge(key(state), state, StateRows::both));
        return found.values().stream().limit(most).toList();
    }

    /** Deletes the states in the order of their keys, so that no two transactions wait for each other in a circle. */
    public void delete(List<StateName> states) {
        List<Object[]> keys = states.stream()
                .sorted(Comparator.comparing(StateName::subject).thenComparing(StateName::limit))
                .distinct()
                .map(state -> new Object[] {state.subject(), state.limit()})
                .toList();
        for (int from = 0; from < keys.size(); from += MOST_KEYS) {
            Map<String, Object> values = Map.of("keys", keys.subList(from, Math.min(keys.size(), from + MOST_KEYS)));
            for (Table table : List.of(counts, penalties)) {
                int unused = table.update("DELETE FROM {table} WHERE (user_id, resource) IN (VALUES :keys)", values);
            }
        }
    }

    private static String key(StoredState state) {
        return state.subject() + ' ' + state.limit();
    }

    private static StoredState both(StoredState count, StoredState penalty) {
        return new StoredState(
                count.subject(),
                count.limit(),
                count.lastRequestAt(),
                penalty.violations(),
                penalty.lastViolationAt(),
                penalty.penaltyUntil());
    }
}
