package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** All sections and all changes of the endpoint under the roles that docs/endpoint.md configures, on both databases. */
class OperatorRolesTest {

    /** At least one of each section. */
    private static final List<String> READS = List.of(
            "",
            "/limits",
            "/limits/reads",
            "/rules",
            "/rules/reads",
            "/users/alice",
            "/addresses/203.0.113.7",
            "/keys/KEY",
            "/subjects/user:alice",
            "/search/user:a",
            "/blocks",
            "/penalties",
            "/changes",
            "/changes/limit/reads",
            "/busiest",
            "/denied",
            "/violations",
            "/rates",
            "/timeline",
            "/timeline/reads",
            "/audit",
            "/audit/user:alice",
            "/backups",
            "/retention",
            "/explain?request=GET%20/api/campaigns");

    /** In an order in which each has something to change. */
    private static final List<Write> WRITES = List.of(
            Write.post("/limits/reads", "\"properties\": \"max-requests: 61\""),
            Write.post("/limits/reads", "\"action\": \"off\""),
            Write.post("/limits/reads", "\"action\": \"on\""),
            Write.post("/limits/reads", "\"action\": \"roll-back\", \"version\": \"1\""),
            Write.delete("/limits/reads"),
            Write.post("/rules/reads", "\"action\": \"off\""),
            Write.post("/rules/reads", "\"action\": \"on\""),
            Write.post("/rules/reads", "\"action\": \"roll-back\", \"version\": \"1\""),
            Write.delete("/rules/reads"),
            Write.post("/everything", "\"action\": \"off\""),
            Write.post("/everything", "\"action\": \"on\""),
            Write.post("/users/mallory", "\"action\": \"block\""),
            Write.post("/users/mallory", "\"action\": \"unblock\""),
            Write.post("/users/mallory", "\"action\": \"reset\""),
            Write.post("/users/mallory", "\"action\": \"block\""),
            Write.delete("/users/mallory"),
            Write.post("/addresses/203.0.113.0/24", "\"action\": \"block\""),
            Write.post("/addresses/203.0.113.0/24", "\"action\": \"unblock\""),
            Write.post("/addresses/203.0.113.7", "\"action\": \"block\""),
            Write.delete("/addresses/203.0.113.7"),
            Write.post("/addresses/203.0.113.7", "\"action\": \"reset\""),
            Write.post("/subjects/user:alice", "\"action\": \"reset\""),
            Write.post("/subjects/user:alice", "\"action\": \"clear-penalty\", \"limit\": \"login\""),
            Write.delete("/subjects/user:alice"),
            Write.post("/keys/KEY", "\"action\": \"reset\", \"limit\": \"reads\""),
            Write.post("/keys/KEY", "\"action\": \"revoke\""),
            Write.delete("/keys/OTHER"),
            Write.post("/backups", "\"limit\": null"),
            Write.post("/retention", "\"limit\": null"));

    private record Write(
            String method, String path, @Nullable String body) {

        static Write post(String path, String body) {
            return new Write("POST", path, "{\"reason\": \"a test\", " + body + "}");
        }

        static Write delete(String path) {
            return new Write("DELETE", path + "?reason=test", null);
        }
    }

    @TempDir
    private static Path folder;

    private static final Map<String, ConfigurableApplicationContext> APPLICATIONS = new LinkedHashMap<>();

    @BeforeAll
    static void start() {
        APPLICATIONS.put(
                "sqlite",
                run(
                        "--ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                        "--ratelimit.backup.directory=" + folder.resolve("backups")));
        APPLICATIONS.put(
                "postgresql",
                run(
                        "--spring.profiles.active=postgresql",
                        "--RATELIMIT_DB_URL=" + TestPostgres.instance().jdbcUrl(),
                        "--RATELIMIT_DB_USERNAME=",
                        "--RATELIMIT_DB_PASSWORD=",
                        "--RATELIMIT_DB_SCHEMA=" + TestPostgres.instance().freshSchema()));
    }

    private static ConfigurableApplicationContext run(String... settings) {
        List<String> arguments = new ArrayList<>(List.of(settings));
        arguments.add("--server.port=0");
        arguments.add("--ratelimit.store.deadline=10s");
        return new SpringApplicationBuilder(SampleApplication.class).run(arguments.toArray(String[]::new));
    }

    @AfterAll
    static void stop() {
        APPLICATIONS.values().forEach(ConfigurableApplicationContext::close);
    }

    private static HttpResponse<String> send(
            String database, @Nullable String user, String method, String path, @Nullable String body)
            throws IOException, InterruptedException {
        return send(database, user, method, path, body, "application/json");
    }

    private static URI address(String database, String path) {
        String port = APPLICATIONS.get(database).getEnvironment().getProperty("local.server.port");
        return URI.create("http://127.0.0.1:" + port + "/actuator/ratelimit" + path);
    }

    private static HttpResponse<String> send(
            String database,
            @Nullable String user,
            String method,
            String path,
            @Nullable String body,
            @Nullable String contentType)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(address(database, path));
        if (user != null) {
            String credentials = user + ":" + user;
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)));
        }
        if (contentType != null) {
            request.header("Content-Type", contentType);
        }
        request.method(
                method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @ParameterizedTest
    @DisplayName("Nobody and users are refused, viewers may look, and operators may change")
    @CsvSource(
            nullValues = "nobody",
            value = {
                "sqlite, nobody, 401, 401",
                "sqlite, alice, 403, 403",
                "sqlite, admin, 403, 403",
                "sqlite, viewer, 200, 403",
                "sqlite, operator, 200, 200",
                "postgresql, nobody, 401, 401",
                "postgresql, alice, 403, 403",
                "postgresql, admin, 403, 403",
                "postgresql, viewer, 200, 403",
                "postgresql, operator, 200, 200",
            })
    void roles(String database, @Nullable String user, int read, int write) throws Exception {
        RateLimitAdmin admin = APPLICATIONS.get(database).getBean(RateLimitAdmin.class);
        String key = keyOf(admin);
        String other = keyOf(admin);
        for (String path : READS) {
            HttpResponse<String> answer = send(database, user, "GET", path.replace("KEY", key), null);
            assertThat(answer.statusCode()).as(path + ": " + answer.body()).isEqualTo(read);
        }
        List<ChangeLog.LoggedChange> before = changes(admin);
        for (Write one : WRITES) {
            String path = one.path().replace("KEY", key).replace("OTHER", other);
            HttpResponse<String> answer = send(database, user, one.method(), path, one.body());
            // PostgreSQL is backed up with its own tools, which the answer says.
            boolean notHere = write == 200 && database.equals("postgresql") && path.equals("/backups");
            assertThat(answer.statusCode()).as(one + ": " + answer.body()).isEqualTo(notHere ? 503 : write);
        }
        if (write == 200) {
            assertThat(changes(admin)).hasSizeGreaterThan(before.size() + 20);
        } else {
            assertThat(changes(admin)).isEqualTo(before);
        }
    }

    /** A browser sends the password of an operator along with a form of another site, and asks before anything else. */
    @ParameterizedTest
    @DisplayName("A request that another site can make a browser send changes nothing")
    @CsvSource(
            nullValues = "none",
            value = {
                "application/x-www-form-urlencoded, action=off&reason=forged",
                "text/plain, '{\"action\": \"off\", \"reason\": \"forged\"}'",
                "multipart/form-data; boundary=x, '--x\r\nContent-Disposition: form-data; name=\"action\"\r\n\r\noff\r\n--x--'",
                "none, '{\"action\": \"off\", \"reason\": \"forged\"}'",
                "none, none",
                "application/x-www-form-urlencoded, none",
            })
    void forgedRequests(@Nullable String contentType, @Nullable String body) throws Exception {
        RateLimitAdmin admin = APPLICATIONS.get("sqlite").getBean(RateLimitAdmin.class);
        for (String parameters : List.of("", "?action=off&reason=forged")) {
            HttpResponse<String> answer =
                    send("sqlite", "operator", "POST", "/everything" + parameters, body, contentType);

            assertThat(answer.statusCode()).as(answer.body()).isBetween(400, 499);
        }
        assertThat(admin.isEnabled()).isTrue();
    }

    @Test
    @DisplayName("A browser that asks whether another site may send a change gets no permission")
    void preflight() throws Exception {
        for (String method : List.of("POST", "DELETE")) {
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(address("sqlite", "/rules/reads"))
                                    .header("Origin", "https://evil.example")
                                    .header("Access-Control-Request-Method", method)
                                    .header("Access-Control-Request-Headers", "content-type")
                                    .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());

            assertThat(answer.statusCode()).isBetween(400, 499);
            assertThat(answer.headers().firstValue("Access-Control-Allow-Origin"))
                    .isEmpty();
        }
    }

    private static String keyOf(RateLimitAdmin admin) {
        return admin.keys()
                .create(NewApiKey.of("test", "alice"), Change.by("test"))
                .id();
    }

    private static List<ChangeLog.LoggedChange> changes(RateLimitAdmin admin) {
        return admin.changes().list(ChangeLog.Query.newest(1_000));
    }

    @ParameterizedTest
    @DisplayName("No section is left out")
    @ValueSource(strings = {"sqlite", "postgresql"})
    void everySection(String database) throws Exception {
        String overview = send(database, "viewer", "GET", "", null).body();
        String sections = overview.substring(overview.indexOf("\"sections\""));

        assertThat(Pattern.compile("\"([a-z]+)\"").matcher(sections).results().map(found -> found.group(1)))
                .hasSizeGreaterThan(10)
                .filteredOn(section -> !section.equals("sections"))
                .allMatch(section -> READS.stream().anyMatch(path -> path.matches("/" + section + "([/?].*)?")));
    }

    @ParameterizedTest
    @DisplayName("The log of changes names the operator")
    @ValueSource(strings = {"sqlite", "postgresql"})
    void changesNameTheOperator(String database) throws Exception {
        send(database, "operator", "POST", "/rules/turns", "{\"action\": \"off\", \"reason\": \"a test\"}");

        assertThat(send(database, "viewer", "GET", "/changes?most=1", null).body())
                .contains("\"by\":\"operator\"")
                .contains("\"reason\":\"a test\"")
                .contains("\"action\":\"switch-off\"");
    }
}
