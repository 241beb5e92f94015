package dev.ratelimit.audit.sql;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The differences between databases in the SQL on the tables of the audit trail. */
public final class AuditSql {

    /** {@code null} for SQLite, where moments are whole microseconds. */
    private final @Nullable String schema;

    private AuditSql(@Nullable String schema) {
        this.schema = schema;
    }

    public static AuditSql sqlite() {
        return new AuditSql(null);
    }

    public static AuditSql postgres(String schema) {
        return new AuditSql(schema);
    }

    /** The name of a table or a function. */
    public String table(String name) {
        return schema == null ? name : "\"" + schema + "\"." + name;
    }

    /** The moment of a parameter in microseconds. */
    public String moment(String parameter) {
        return schema == null ? parameter : "(timestamptz 'epoch' + " + parameter + " * interval '1 microsecond')";
    }

    /** The microseconds of a column with a moment. */
    public String micros(String column) {
        return schema == null ? column : "CAST(extract(epoch FROM " + column + ") * 1000000 AS bigint)";
    }

    /** Whether the text of a column ends so. Upper and lower case differ. */
    public String endsWith(String column, String ending) {
        return schema == null ? column + " GLOB '*" + ending + "'" : column + " LIKE '%" + ending + "'";
    }

    /**
     * Whether the text of a column matches one of these patterns.
     *
     * @param patterns plain characters, sets of them and stars, such as {@code 10[.]*}
     */
    public String matchesOneOf(String column, List<String> patterns) {
        return schema == null
                ? patterns.stream()
                        .map(pattern -> column + " GLOB '" + pattern + "'")
                        .collect(Collectors.joining(" OR ", "(", ")"))
                : column + " ~ '^(" + String.join("|", patterns).replace("*", ".*") + ")$'";
    }

    /** The id of a row that a parameter gives as text. */
    public String id(String parameter) {
        return schema == null ? parameter : "CAST(" + parameter + " AS uuid)";
    }

    /** The month of a column with a moment, such as {@code 2026-11}. */
    public String month(String column) {
        return schema == null
                ? "strftime('%Y-%m', " + column + " / 1000000, 'unixepoch')"
                : "to_char(" + column + " AT TIME ZONE 'UTC', 'YYYY-MM')";
    }
}
