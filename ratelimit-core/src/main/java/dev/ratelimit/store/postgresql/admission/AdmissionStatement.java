package dev.ratelimit.store.postgresql.admission;

import dev.ratelimit.store.postgresql.admission.AdmissionShape.Keys;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The text of one admission statement.
 *
 * <ol>
 *   <li>Rows are taken in the order of their keys.
 *   <li>A key without a row gets one, charged at the clock that is read for it.
 *   <li>Otherwise the row is locked. The clock is read then: is it later than the first moment with room? That moment
 *       is known from the row alone, and a row that has room also has room later. So it does no harm that the clock is
 *       read again to write the row.
 *   <li>Windows are those of the clock before the lock. A row is left alone if the next window has begun since; the clock
 *       that is written is cut to the window.
 *   <li>A row of another algorithm, size or capacity is left alone, as is one without room.
 * </ol>
 *
 * @param sql with a question mark for each parameter
 * @param parameters their names
 */
public record AdmissionStatement(String sql, List<String> parameters) {

    public AdmissionStatement {
        parameters = List.copyOf(parameters);
    }

    private static final String TEXT = """
            INSERT INTO "{schema}".rate_limits AS state
                (user_id, resource, algorithm, window_start, window_size, capacity, {columns}, last_request_at,
                 last_allowed_at, expires_at, version)
            SELECT now.subject, now.resource, now.algorithm, now.start, now.size, now.capacity, {counts}, now.clock,
                   now.clock, {fresh expiry}, now.clock
            FROM (
                SELECT key.*, {fresh start} AS start, {fresh counts}
                FROM ({keys}) key
                OFFSET 0
            ) now
            {covered}
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, {columns}, last_request_at, last_allowed_at, expires_at) = (
                SELECT now.start, {counts}, now.clock, now.clock, {expiry}
                FROM (
                    SELECT now.*, {start} AS start, {charged counts}
                    FROM (
                        SELECT {clock of the row} AS clock, excluded.window_size AS size, excluded.capacity AS capacity
                            {numbers}
                        OFFSET 0
                    ) now
                    OFFSET 0
                ) now
            ), version = state.version + 1
            WHERE state.algorithm = excluded.algorithm AND state.window_size = excluded.window_size
                AND state.capacity = excluded.capacity
                AND {clock} >= greatest(state.last_request_at, state.blocked_until, {next allowed} {since})
                {in the window}
            RETURNING state.last_request_at, state.user_id, state.resource, {returned}
            """;

    private static final String ONE_KEY = """
            SELECT :subject::text AS subject, :take::bigint AS take, {clock} AS clock, {limit}
                WHERE {settings}""";

    /** With plain parameters, the length of the arrays would be part of a plan: it would be planned anew each time. */
    private static final String KEYS = """
            SELECT key.subject, key.take, {clock} AS clock, {limit}
                FROM unnest((SELECT :subjects::text[]), (SELECT :takes::bigint[])) AS key (subject, take)
                WHERE {settings}
                ORDER BY key.subject COLLATE "C" OFFSET 0""";

    private static final String KEYS_OF_SEVERAL_LIMITS = """
            SELECT key.subject, key.take, {clock} AS clock, {limit}
                FROM unnest((SELECT :subjects::text[]), (SELECT :takes::bigint[]), (SELECT :numbers::int[]))
                    AS key (subject, take, number)
                WHERE {settings}
                ORDER BY key.subject COLLATE "C", (:all_resource::text[])[key.number] COLLATE "C" OFFSET 0""";

    private static final String COVERED = "WHERE now.clock >= now.origin AND now.clock < now.until";

    private static final String NEXT_ALLOWED =
            "CASE WHEN state.last_allowed_at > 0 THEN state.last_allowed_at + {interval} END,";

    private static final String WINDOW_END = "excluded.window_start + excluded.window_size";
    private static final String FOREVER = "9223372036854775807";
    private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z_]+)");

    /**
     * @param clock the expression that reads the clock
     * @param settings a condition that makes the settings of the transaction
     */
    public static AdmissionStatement of(AdmissionShape shape, String schema, String clock, String settings) {
        String text = TEXT.replace("{columns}", String.join(", ", shape.columns()))
                .replace("{counts}", listed(shape, "now."::concat))
                .replace("{fresh expiry}", expiry(shape, "now.algorithm"))
                .replace(
                        "{fresh start}",
                        shape.each(
                                "key.algorithm",
                                one -> one.inWindows()
                                        ? "key.clock - (key.clock - key.origin) % key.size"
                                        : "key.clock"))
                .replace("{fresh counts}", listed(shape, column -> fresh(shape, column) + " AS " + column))
                .replace("{covered}", shape.inWindows() ? COVERED : "")
                .replace("{expiry}", expiry(shape, "excluded.algorithm"))
                .replace(
                        "{start}",
                        shape.each(
                                "excluded.algorithm", one -> one.inWindows() ? "excluded.window_start" : "now.clock"))
                .replace("{charged counts}", listed(shape, column -> charged(shape, column) + " AS " + column))
                .replace("{clock of the row}", shape.each("excluded.algorithm", AdmissionStatement::clockOfTheRow))
                .replace("{next allowed}", shape.intervals() ? NEXT_ALLOWED : "")
                .replace("{since}", shape.each("excluded.algorithm", AdmissionStatement::since))
                .replace(
                        "{in the window}",
                        shape.inWindows()
                                ? "AND {clock} < "
                                        + shape.each(
                                                "excluded.algorithm", one -> one.inWindows() ? WINDOW_END : FOREVER)
                                : "")
                .replace("{returned}", listed(shape, column -> returned(shape, column)));
        boolean rates = text.contains("now.rate");
        return positional(text.replace(
                        "{numbers}",
                        (rates ? ", {rate} AS rate" : "") + (shape.intervals() ? ", {interval} AS interval" : ""))
                .replace("{rate}", number(shape, "rate"))
                .replace("{most}", number(shape, "most"))
                .replace("{interval}", number(shape, "interval"))
                .replace("{keys}", keys(shape.keys()))
                .replace("{limit}", limit(shape, rates))
                .replace("{clock}", clock)
                .replace("{settings}", settings)
                .replace("{schema}", schema));
    }

    private static String keys(Keys keys) {
        return switch (keys) {
            case ONE -> ONE_KEY;
            case OF_ONE_LIMIT -> KEYS;
            case OF_SEVERAL -> KEYS_OF_SEVERAL_LIMITS;
        };
    }

    private static String clockOfTheRow(AdmissionFragment fragment) {
        return fragment.inWindows()
                ? "greatest(state.last_request_at, excluded.window_start, least({clock}, " + WINDOW_END + " - 1))"
                : "greatest(state.last_request_at, {clock})";
    }

    private static String since(AdmissionFragment fragment) {
        return fragment.inWindows() ? "greatest(excluded.window_start, " + fragment.since() + ")" : fragment.since();
    }

    private static String listed(AdmissionShape shape, Function<String, String> each) {
        return shape.columns().stream().map(each).collect(Collectors.joining(", "));
    }

    private static String expiry(AdmissionShape shape, String algorithm) {
        String wholeAt = shape.each(algorithm, AdmissionFragment::wholeAt);
        return shape.intervals() ? "greatest(now.clock + now.interval, " + wholeAt + ")" : wholeAt;
    }

    private static String fresh(AdmissionShape shape, String column) {
        String none = column.equals("log") ? "NULL::bytea" : "0";
        return shape.each("key.algorithm", one -> value(one, column, one.fresh(), none));
    }

    private static String charged(AdmissionShape shape, String column) {
        return shape.each("excluded.algorithm", one -> value(one, column, one.charged(), "state." + column));
    }

    private static String returned(AdmissionShape shape, String column) {
        for (AdmissionFragment fragment : shape.fragments()) {
            if (fragment.columns().contains(column)) {
                return value(fragment, column, fragment.returned(), column);
            }
        }
        return column;
    }

    private static String value(AdmissionFragment fragment, String column, List<String> values, String none) {
        int index = fragment.columns().indexOf(column);
        return index < 0 ? none : values.get(index);
    }

    /** The columns of a key that are those of its limit. */
    private static String limit(AdmissionShape shape, boolean rates) {
        List<String> columns = new ArrayList<>();
        columns.add(limitColumn(shape, "resource", "text"));
        columns.add(limitColumn(shape, "algorithm", "text"));
        columns.add(limitColumn(shape, "size", "bigint"));
        columns.add(limitColumn(shape, "capacity", "bigint"));
        if (rates) {
            columns.add(limitColumn(shape, "rate", "bigint"));
        }
        if (shape.inWindows()) {
            columns.add(limitColumn(shape, "origin", "bigint"));
            columns.add(limitColumn(shape, "until", "bigint"));
        }
        if (shape.intervals()) {
            columns.add(limitColumn(shape, "interval", "bigint"));
        }
        return String.join(", ", columns);
    }

    private static String limitColumn(AdmissionShape shape, String name, String type) {
        return shape.keys() == Keys.OF_SEVERAL
                ? "(:all_" + name + "::" + type + "[])[key.number] AS " + name
                : ":" + name + "::" + type + " AS " + name;
    }

    /** A number of the limit of the locked row. */
    private static String number(AdmissionShape shape, String name) {
        return switch (shape.lookup()) {
            case NONE -> ":" + name + "::bigint";
            case BY_CAPACITY ->
                "(:all_" + name + "::bigint[])[array_position(:all_capacity::bigint[], excluded.capacity)]";
            case BY_NAME_AND_CAPACITY ->
                "(:all_" + name
                        + "::bigint[])[array_position(:all_name::text[], excluded.resource || ' ' || excluded.capacity)]";
        };
    }

    private static AdmissionStatement positional(String named) {
        List<String> parameters = new ArrayList<>();
        String sql = PARAMETER.matcher(named).replaceAll(found -> {
            parameters.add(found.group(1));
            return "?";
        });
        return new AdmissionStatement(sql, parameters);
    }
}
