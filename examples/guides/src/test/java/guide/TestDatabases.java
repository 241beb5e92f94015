package guide;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Empty databases of the test server, for as long as a test runs. */
final class TestDatabases implements AutoCloseable {

    private final List<String> names = new ArrayList<>();

    /** A new database, with the options that another address has. */
    String urlFor(String documented) {
        int query = documented.indexOf('?');
        String options = query < 0
                ? ""
                : Stream.of(documented.substring(query + 1).split("&"))
                        .filter(option -> !option.matches("(user|password)=.*"))
                        .map(option -> "&" + option)
                        .reduce("", String::concat);
        return url(create()) + options;
    }

    /** A new database, as the data source of an application. */
    DataSource dataSource() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url(create()));
        return dataSource;
    }

    String create() {
        String name = TestPostgres.instance().freshSchema();
        execute(TestPostgres.instance().jdbcUrl(), "CREATE DATABASE " + name);
        names.add(name);
        return name;
    }

    static String url(String name) {
        return TestPostgres.instance().jdbcUrl().replaceFirst("(//[^/]+/)[^?]*", "$1" + name);
    }

    boolean isEmpty() {
        return names.isEmpty();
    }

    List<String> names() {
        return List.copyOf(names);
    }

    static void execute(String url, String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** The rows, with a line between their columns. */
    List<String> query(String name, String sql) {
        try (Connection connection = DriverManager.getConnection(url(name));
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (found.next()) {
                List<String> columns = new ArrayList<>();
                for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
                    columns.add(found.getString(i));
                }
                rows.add(String.join("|", columns));
            }
            return rows;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    @Override
    public void close() {
        names.forEach(name ->
                execute(TestPostgres.instance().jdbcUrl(), "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"));
    }
}
