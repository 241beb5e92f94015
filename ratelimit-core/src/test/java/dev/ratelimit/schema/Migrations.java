package dev.ratelimit.schema;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Queries about migrations for the tests of both databases. */
final class Migrations {

    private Migrations() {}

    /** The versions of the library's migrations, in ascending order, as their files say. */
    static List<String> known(String dialect) {
        try {
            URI folder =
                    Schema.class.getResource("/dev/ratelimit/schema/" + dialect).toURI();
            try (Stream<Path> files = Files.list(Path.of(folder))) {
                return files.map(file -> file.getFileName().toString())
                        .filter(name -> name.matches("V\\d+__\\w+\\.sql"))
                        .map(name -> name.substring(1, name.indexOf("__")))
                        .sorted((one, other) -> Integer.compare(Integer.parseInt(one), Integer.parseInt(other)))
                        .toList();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    static String newest(String dialect) {
        List<String> known = known(dialect);
        return known.get(known.size() - 1);
    }

    /** Ours, and one that follows. */
    static Scripts withNext(String dialect, String next) {
        return new Scripts(
                "dev/ratelimit/schema/",
                List.of(
                        new Scripts.Script(1, dialect + "/V1__rate_limits.sql"),
                        new Scripts.Script(2, "next/" + next)));
    }

    /** The first column of each row. */
    static List<String> query(DataSource dataSource, String sql) {
        try (Connection connection = dataSource.getConnection();
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

    static void execute(DataSource dataSource, String... statements) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs that many at the same moment, each in a thread of its own; fails if one of them does. */
    static void atOnce(int instances, Runnable start) throws Exception {
        CyclicBarrier together = new CyclicBarrier(instances);
        ExecutorService threads = Executors.newFixedThreadPool(instances);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < instances; i++) {
                running.add(threads.submit(() -> {
                    together.await(10, TimeUnit.SECONDS);
                    start.run();
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
