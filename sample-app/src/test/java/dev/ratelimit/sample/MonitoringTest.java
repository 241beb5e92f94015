package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.monitor.Monitor;
import dev.ratelimit.monitor.Warning;
import dev.ratelimit.testing.postgres.TestPostgres;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * {@code docs/monitoring.md}, the alerts and the dashboard name the meters that the sample has after some traffic on PostgreSQL,
 * where the limiter has connections of its own.
 */
class MonitoringTest {

    private static final Path DOCS = Path.of("../docs");
    private static final Path PROMTOOL = Path.of("/usr/bin/promtool");

    private static ConfigurableApplicationContext application;
    private static String exported;

    @BeforeAll
    static void makeTraffic() {
        application = SpringApplication.run(
                SampleApplication.class,
                "--spring.profiles.active=postgresql",
                "--server.port=0",
                "--ratelimit.store.deadline=10s",
                "--ratelimit.monitoring.penalties-interval=1s",
                "--RATELIMIT_DB_URL=" + TestPostgres.instance().jdbcUrl(),
                "--RATELIMIT_DB_USERNAME=",
                "--RATELIMIT_DB_PASSWORD=",
                "--RATELIMIT_DB_SCHEMA=" + TestPostgres.instance().freshSchema());
        Client sample = new Client(Integer.parseInt(application.getEnvironment().getProperty("local.server.port")));
        Client.times(4, () -> sample.createCampaign("alice"));
        Client.times(7, () -> sample.login("alice", "wrong"));
        Monitor monitor = application.getBean(Monitor.class);
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            monitor.tick();
            return monitor.activePenalties().containsKey("login");
        });
        exported = sample.get("/actuator/prometheus", null).body();
    }

    @AfterAll
    static void stop() {
        if (application != null) {
            application.close();
        }
    }

    /** A row of the table of meters. */
    private record Row(String type, Set<String> tags) {}

    @Test
    void thePageListsEveryMeterWithItsTypeAndTags() throws IOException {
        TreeMap<String, Row> written = new TreeMap<>();
        Pattern.compile("(?m)^\\| `(ratelimit\\.[a-z.]+)` \\| (\\w+) \\| ([^|]*)\\|")
                .matcher(Files.readString(DOCS.resolve("monitoring.md")))
                .results()
                .forEach(row -> written.put(row.group(1), new Row(row.group(2), tags(row.group(3)))));

        TreeMap<String, Row> found = new TreeMap<>();
        for (Meter meter : application.getBean(MeterRegistry.class).getMeters()) {
            if (meter.getId().getName().startsWith("ratelimit.")) {
                found.put(meter.getId().getName(), row(meter));
            }
        }
        assertThat(written).isEqualTo(found);
    }

    private static Set<String> tags(String cell) {
        return Arrays.stream(cell.replace("`", "").split(","))
                .map(String::strip)
                .filter(tag -> !tag.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Row row(Meter meter) {
        return new Row(
                meter.getId().getType().name().toLowerCase(Locale.ROOT),
                meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.toCollection(TreeSet::new)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"alerts.yml", "alerts-test.yml", "grafana-dashboard.json"})
    void everyMetricOfAFileIsExported(String file) throws IOException {
        Set<String> series = exported.lines()
                .filter(line -> line.startsWith("ratelimit_"))
                .map(line -> line.replaceFirst("[{ ].*", ""))
                .collect(Collectors.toSet());
        Set<String> used = Pattern.compile("\\bratelimit_\\w+")
                .matcher(Files.readString(DOCS.resolve("monitoring").resolve(file)))
                .results()
                .map(name -> name.group())
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(used).hasSizeGreaterThan(5).isSubsetOf(series);
    }

    @Test
    void theDashboardShowsEveryMeter() throws IOException {
        String dashboard = Files.readString(DOCS.resolve("monitoring/grafana-dashboard.json"));

        assertThat(application.getBean(MeterRegistry.class).getMeters().stream()
                        .map(meter -> meter.getId().getName())
                        .filter(name -> name.startsWith("ratelimit."))
                        .map(name -> name.replace('.', '_')))
                .allMatch(dashboard::contains);
    }

    /** Applications that share a Prometheus may share names of limits and of instances. */
    @Test
    void noSumCombinesApplications() throws IOException {
        String expressions =
                Files.readString(DOCS.resolve("monitoring/alerts.yml")).replaceAll("(?m)^ *(?:#|summary:).*", "");
        String queries = Files.readString(DOCS.resolve("monitoring/grafana-dashboard.json"))
                .lines()
                .filter(line -> line.contains("\"expr\""))
                .collect(Collectors.joining("\n"));

        assertThat(queries).contains("ratelimit_requests_total{job=");
        assertThat(Pattern.compile("\\b(?:sum|max|min|avg|count)\\b(?! by \\(job\\b).*")
                        .matcher(expressions)
                        .results())
                .isEmpty();
        assertThat(Pattern.compile("\\bratelimit_\\w+\\b(?!\\{job=).*")
                        .matcher(queries)
                        .results())
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Warning.Kind.class)
    void everyWarningHasAnAlert(Warning.Kind kind) throws IOException {
        String name = Arrays.stream(kind.name().split("_"))
                .map(word -> word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT))
                .collect(Collectors.joining("", "RateLimit", ""));

        assertThat(Files.readString(DOCS.resolve("monitoring/alerts.yml"))).contains("alert: " + name);
    }

    @Test
    void everyAlertIsOnThePage() throws IOException {
        String page = Files.readString(DOCS.resolve("monitoring.md"));
        List<String> alerts = Pattern.compile("alert: RateLimit(\\w+)")
                .matcher(Files.readString(DOCS.resolve("monitoring/alerts.yml")))
                .results()
                .map(alert -> alert.group(1).replaceAll("(?<=.)(?=[A-Z])", " ").toLowerCase(Locale.ROOT))
                .toList();

        assertThat(alerts).hasSizeGreaterThan(Warning.Kind.values().length);
        assertThat(alerts.stream().map(name -> name.replace("store unavailable", "store failing")))
                .allMatch(name -> page.contains("| " + name + " |"));
    }

    static boolean hasPromtool() {
        return Files.isExecutable(PROMTOOL);
    }

    @ParameterizedTest
    @ValueSource(strings = {"check rules alerts.yml", "test rules alerts-test.yml"})
    @EnabledIf(value = "hasPromtool", disabledReason = "promtool of Debian's package prometheus is not installed")
    void promtoolAccepts(String command) throws Exception {
        List<String> words = new ArrayList<>(List.of(PROMTOOL.toString()));
        words.addAll(List.of(command.split(" ")));
        Process promtool = new ProcessBuilder(words)
                .directory(DOCS.resolve("monitoring").toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(promtool.waitFor()).as(output).isZero();
        assertThat(output).contains("SUCCESS");
    }
}
