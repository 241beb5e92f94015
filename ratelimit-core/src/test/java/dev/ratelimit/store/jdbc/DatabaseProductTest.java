package dev.ratelimit.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.function.Function;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DatabaseProductTest {

    @Test
    void realDatabasesAreKnown(@TempDir Path folder) {
        assertThat(DatabaseProduct.of(TestPostgres.instance().dataSource())).isEqualTo(DatabaseProduct.POSTGRESQL);
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        file.exclusively(file::prepare);
        assertThat(DatabaseProduct.of(file.dataSource())).isEqualTo(DatabaseProduct.SQLITE);
    }

    @ParameterizedTest
    @CsvSource({
        "SQLite, 3.51.3, SQLITE",
        "SQLite, 3.51.10, SQLITE",
        "SQLite, 3.52.0, SQLITE",
        "SQLite, 4, SQLITE",
        "PostgreSQL, 14, POSTGRESQL",
        "PostgreSQL, 14.0, POSTGRESQL",
        "PostgreSQL, 18.1 (Debian 18.1-1), POSTGRESQL",
        "PostgreSQL, 19beta1, POSTGRESQL",
        "postgresql, 18.1, POSTGRESQL"
    })
    void versionsThatAreNewEnoughAreTaken(String name, String version, DatabaseProduct product) {
        assertThat(DatabaseProduct.of(database(name, version))).isEqualTo(product);
    }

    @ParameterizedTest
    @CsvSource({"3.51.2", "3.9.99", "3.51", "2.99.99", "''"})
    void anOlderSqliteIsRefused(String version) {
        assertThatThrownBy(() -> DatabaseProduct.of(database("SQLite", version)))
                .isInstanceOf(UnsupportedDatabaseException.class)
                .hasMessage("unsupported database SQLite " + version
                        + "; use 3.51.3 or later: older ones can lose committed changes in WAL mode");
    }

    @ParameterizedTest
    @CsvSource({"13", "13.22 (Debian 13.22-1)", "9.6.24"})
    void anOlderPostgresIsRefused(String version) {
        assertThatThrownBy(() -> DatabaseProduct.of(database("PostgreSQL", version)))
                .isInstanceOf(UnsupportedDatabaseException.class)
                .hasMessage("unsupported database PostgreSQL " + version
                        + "; use 14 or later: older ones are no longer maintained");
    }

    @ParameterizedTest
    @CsvSource({
        "13.0.0, CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu), COCKROACHDB",
        "11.2-YB-2.20.1.0-b0, PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, YUGABYTEDB",
        "15.2-YB-2025.1.0.0-b0, PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, YUGABYTEDB"
    })
    void compatibleDatabasesAreTakenByTheirName(String version, String text, PostgresEngine engine) {
        DataSource database = database("PostgreSQL", version, text);

        assertThat(DatabaseProduct.of(database)).isEqualTo(DatabaseProduct.POSTGRESQL);
        assertThat(PostgresEngine.of(database)).isEqualTo(engine);
        assertThat(engine.isComplete()).isFalse();
        assertThat(engine.obstacleToLocks()).isEqualTo("where row locks are expensive or missing");
    }

    /** Its version is that of PostgreSQL. */
    @Test
    void citusIsKnownByItsExtension() {
        DataSource database =
                database("PostgreSQL", "17.5", query -> query.contains("pg_extension") ? "citus" : "17.5");

        assertThat(DatabaseProduct.of(database)).isEqualTo(DatabaseProduct.POSTGRESQL);
        assertThat(PostgresEngine.of(database)).isEqualTo(PostgresEngine.CITUS);
        assertThat(PostgresEngine.CITUS.isComplete()).as("has the usual tables").isTrue();
        assertThat(PostgresEngine.CITUS.obstacleToLocks()).isEqualTo("which refuses the clock in a write");
    }

    @Test
    void realPostgresIsComplete() {
        assertThat(PostgresEngine.of(TestPostgres.instance().dataSource())).isEqualTo(PostgresEngine.POSTGRESQL);
        assertThat(PostgresEngine.POSTGRESQL.obstacleToLocks()).isEmpty();
    }

    @Test
    void anUnknownProductIsRefusedByName() {
        DataSource mysql = database("MySQL", "8.4");
        String message = "unsupported database MySQL 8.4; use PostgreSQL 14 or later, or SQLite";

        assertThatThrownBy(() -> DatabaseProduct.of(mysql))
                .isInstanceOf(UnsupportedDatabaseException.class)
                .hasMessage(message);
        assertThatThrownBy(() -> Schema.migrate(mysql, "public"))
                .isInstanceOf(UnsupportedDatabaseException.class)
                .hasMessage(message);
    }

    @Test
    void aDatabaseThatCannotBeAskedIsSaid() {
        DataSource down = proxy(DataSource.class, Map.of());

        assertThatThrownBy(() -> DatabaseProduct.of(down))
                .isInstanceOf(LimitStoreException.class)
                .hasMessage("cannot read the product and version of the database: getConnection is not there");
    }

    /** A database that says it is this, and nothing else. */
    private static DataSource database(String name, String version) {
        return database(name, version, name + " " + version);
    }

    /**
     * @param text that of {@code version()}
     */
    private static DataSource database(String name, String version, String text) {
        return database(name, version, query -> text);
    }

    /** Answers a query with one text. */
    private interface Answering {
        String answer(String query);
    }

    private static DataSource database(String name, String version, Answering answering) {
        Function<Object[], Object> query = given -> proxy(
                ResultSet.class,
                Map.of("next", true, "getString", answering.answer(String.valueOf(given[0])), "close", ""));
        Statement statement = proxy(Statement.class, Map.of("executeQuery", query, "close", ""));
        DatabaseMetaData metaData = proxy(
                DatabaseMetaData.class, Map.of("getDatabaseProductName", name, "getDatabaseProductVersion", version));
        Connection connection =
                proxy(Connection.class, Map.of("getMetaData", metaData, "createStatement", statement, "close", ""));
        return proxy(DataSource.class, Map.of("getConnection", connection));
    }

    private static <T> T proxy(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
            Object answer = answers.get(method.getName());
            if (answer instanceof Function<?, ?> computed) {
                @SuppressWarnings("unchecked")
                Function<Object[], Object> function = (Function<Object[], Object>) computed;
                return function.apply(given);
            }
            if (answer == null) {
                throw new SQLException(method.getName() + " is not there");
            }
            return method.getReturnType() == void.class ? null : answer;
        }));
    }
}
