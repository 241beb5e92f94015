package dev.ratelimit.data.table;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.support.GeneratedKeyHolder;

/**
 * A table, and statements on it. In SQL, {@code {table}} stands for its name with its schema, and {@code {metadata}} for
 * the parameter of that name.
 */
public final class Table {

    /** The column with the notes of operators: {@code jsonb} on PostgreSQL, a text on SQLite. */
    static final String METADATA = "metadata";

    private final NamedParameterJdbcTemplate jdbc;
    private final String name;
    private final String metadata;

    /**
     * @param schema the schema in PostgreSQL; {@code null} for none
     */
    public Table(NamedParameterJdbcTemplate jdbc, @Nullable String schema, String name) {
        this.jdbc = jdbc;
        this.name = schema == null ? name : "\"" + schema + "\"." + name;
        this.metadata = schema == null ? ":metadata" : "CAST(:metadata AS jsonb)";
    }

    <T> List<T> find(String sql, Map<String, ?> values, RowMapper<T> rows) {
        return jdbc.query(named(sql), values, rows);
    }

    int update(String sql, Map<String, ?> values) {
        return jdbc.update(named(sql), values);
    }

    void insert(Map<String, @Nullable Object> columns) {
        jdbc.update(insertOf(columns), new MapSqlParameterSource(columns));
    }

    /** Inserts a row whose {@code id} the database chooses, and returns that. */
    long insertNumbered(Map<String, @Nullable Object> columns) {
        GeneratedKeyHolder id = new GeneratedKeyHolder();
        jdbc.update(insertOf(columns), new MapSqlParameterSource(columns), id, new String[] {"id"});
        return Objects.requireNonNull(id.getKey(), "the database chooses the id")
                .longValue();
    }

    private String insertOf(Map<String, ?> columns) {
        return "INSERT INTO " + name + " (" + String.join(", ", columns.keySet()) + ") VALUES ("
                + columns.keySet().stream()
                        .map(column -> column.equals(METADATA) ? metadata : ":" + column)
                        .collect(Collectors.joining(", "))
                + ")";
    }

    private String named(String sql) {
        return sql.replace("{table}", name).replace("{metadata}", metadata);
    }

    static @Nullable Long longOrNull(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }

    static @Nullable Integer intOrNull(ResultSet row, String column) throws SQLException {
        int value = row.getInt(column);
        return row.wasNull() ? null : value;
    }
}
