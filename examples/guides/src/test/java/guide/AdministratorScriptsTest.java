package guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.schema.Schema;
import guide.Documents.Snippet;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

/** The commands for an administrator in docs/databases.md, run by the real psql. */
class AdministratorScriptsTest {

    private static final String SCRIPTS = "dev/ratelimit/schema/postgresql/";

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Test
    void commandsLetARoleWithoutRightsRunTheLibrary() throws Exception {
        List.of("bash", "unzip", "psql").forEach(AdministratorScriptsTest::assumeInstalled);
        Snippet commands = Documents.snippets().stream()
                .filter(snippet -> snippet.document().endsWith("docs/databases.md"))
                .filter(snippet -> snippet.code().contains("psql"))
                .findFirst()
                .orElseThrow();
        writeJar();
        try (TestDatabases databases = new TestDatabases()) {
            String database = databases.create();
            String role = "role_" + database;
            TestDatabases.execute(TestDatabases.url(database), "CREATE ROLE " + role + " LOGIN PASSWORD 'secret'");

            run(commands.code().replaceAll("\\bapp_user\\b", role).replaceAll("\\bapp\\b", database));

            assertThatLimitsWork(TestDatabases.url(database)
                    .replaceAll("user=[^&]*", "user=" + role)
                    .replaceAll("password=[^&]*", "password=secret"));
            TestDatabases.execute(TestDatabases.url(database), "DROP OWNED BY " + role);
            TestDatabases.execute(TestDatabases.url(database), "DROP ROLE " + role);
        }
    }

    private static void assertThatLimitsWork(String url) {
        new ApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withPropertyValues(
                        "ratelimit.store.type=postgresql",
                        "ratelimit.store.postgresql.url=" + url,
                        "ratelimit.store.migrate=false",
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.api.algorithm=fixed-window",
                        "ratelimit.limits.api.max-requests=1",
                        "ratelimit.limits.api.window=3660d")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    RateLimiter limiter = context.getBean(RateLimiter.class);
                    assertThat(limiter.decide(Subject.user("alice"), "api").allowed())
                            .isTrue();
                    assertThat(limiter.decide(Subject.user("alice"), "api").allowed())
                            .isFalse();
                });
    }

    /** With the scripts of the module, whose jar is not built when tests run. */
    private void writeJar() throws IOException {
        try (ZipOutputStream jar =
                new ZipOutputStream(Files.newOutputStream(folder.resolve("ratelimit-core-1.0.jar")))) {
            for (String script : List.of("V1__rate_limits.sql", "grants.sql")) {
                jar.putNextEntry(new ZipEntry(SCRIPTS + script));
                try (InputStream text = Schema.class.getClassLoader().getResourceAsStream(SCRIPTS + script)) {
                    text.transferTo(jar);
                }
            }
        }
    }

    private void run(String commands) throws Exception {
        Path output = folder.resolve("output.txt");
        ProcessBuilder builder = new ProcessBuilder("bash", "-e", "-o", "pipefail", "-c", commands)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().putAll(connection());
        Process process = builder.start();
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
    }

    /** As an administrator connects. */
    private static Map<String, String> connection() {
        URI url = URI.create(TestDatabases.url("postgres").substring("jdbc:".length()));
        return Map.of(
                "PGHOST", url.getHost(),
                "PGPORT", String.valueOf(url.getPort() < 0 ? 5432 : url.getPort()),
                "PGUSER", option(url, "user"),
                "PGPASSWORD", option(url, "password"));
    }

    private static String option(URI url, String name) {
        return Stream.of(url.getQuery().split("&"))
                .filter(option -> option.startsWith(name + "="))
                .map(option -> option.substring(name.length() + 1))
                .findFirst()
                .orElse("");
    }

    private static void assumeInstalled(String program) {
        boolean found = Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
        assumeTrue(found, program + " is not installed");
    }
}
