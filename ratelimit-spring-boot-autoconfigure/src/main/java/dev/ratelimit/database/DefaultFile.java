package dev.ratelimit.database;

import dev.ratelimit.setting.InvalidPropertyException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;

/**
 * The SQLite file of an application that configures no path. In a test of the application it is a temporary one:
 * otherwise a second run would start with the counts of the first, and fail.
 */
final class DefaultFile {

    private static final Logger log = LoggerFactory.getLogger(DefaultFile.class);

    private static final String PATH = "ratelimit.store.sqlite.path";

    /** Spring Boot sets this property in the environment of its tests. */
    private static final String IN_A_TEST = "org.springframework.boot.test.context.SpringBootTestContextBootstrapper";

    private static final Pattern NO_PATH = Pattern.compile(":memory:|jdbc:|file:");

    private DefaultFile() {}

    static Path path(StoreProperties store, Environment environment) {
        if (environment.containsProperty(PATH) || !environment.getProperty(IN_A_TEST, Boolean.class, false)) {
            return Path.of(requirePath(store.sqlite().path()));
        }
        log.info(
                "Using a temporary SQLite file for rate limits in this test; set {} to use another, or add"
                        + " ratelimit-test to start each test without counts",
                PATH);
        return temporary();
    }

    /** A file of such a name would be created, too. */
    private static String requirePath(String path) {
        if (path.isBlank() || NO_PATH.matcher(path).lookingAt()) {
            throw new InvalidPropertyException(
                    PATH, path, "write the path of a file, such as ratelimit.db; or set ratelimit.store.type: memory");
        }
        return path;
    }

    private static Path temporary() {
        try {
            Path folder = Files.createTempDirectory("ratelimit");
            folder.toFile().deleteOnExit(); // after the files in it, which are registered later
            Path file = folder.resolve("ratelimit.db");
            for (Path one : List.of(file, AuditConnections.besideFile(file))) {
                for (String ending : List.of("", "-wal", "-shm", ".lock")) {
                    folder.resolve(one.getFileName() + ending).toFile().deleteOnExit();
                }
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException("Could not create a temporary folder for the rate limits of a test", e);
        }
    }
}
