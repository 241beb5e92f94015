package dev.ratelimit.starter;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A database role that may create nothing, and the work of the administrator who lets it run the library. */
record RestrictedRole(String name, String schema) {

    static RestrictedRole create() {
        String schema = TestPostgres.instance().freshSchema();
        RestrictedRole role = new RestrictedRole("role_" + schema, schema);
        execute("CREATE ROLE " + role.name + " LOGIN PASSWORD 'secret'");
        return role;
    }

    /** As the comment on top of the script says. */
    RestrictedRole withTables() {
        execute(script("V1__rate_limits.sql"));
        return this;
    }

    RestrictedRole withGrants() {
        execute(script("grants.sql")
                .replace("SCHEMA ratelimit ", "SCHEMA " + schema + " ")
                .replace(":\"role\"", name));
        return this;
    }

    private String script(String file) {
        try (InputStream script = Schema.class.getResourceAsStream("postgresql/" + file)) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("ratelimit.rate", schema + ".rate")
                    .replace("ratelimit.%I", schema + ".%I")
                    .replace("ratelimit.user_quotas", schema + ".user_quotas")
                    .replace("ratelimit.api_keys", schema + ".api_keys")
                    .replace("'ratelimit'", "'" + schema + "'");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Such as {@code ratelimit.store.migrate=false}. */
    List<String> settings(String... more) {
        List<String> settings = new ArrayList<>(List.of(
                "ratelimit.store.postgresql.url="
                        + TestPostgres.instance()
                                .jdbcUrl()
                                .replaceAll("user=[^&]*", "user=" + name)
                                .replaceAll("password=[^&]*", "password=secret"),
                "ratelimit.store.postgresql.schema=" + schema));
        settings.addAll(List.of(more));
        return settings;
    }

    static void execute(String sql) {
        try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    static List<String> query(String sql) {
        try (Connection connection = TestPostgres.instance().dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
