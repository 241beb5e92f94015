package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import com.jayway.jsonpath.JsonPath;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.actuate.RateLimitEndpoint;
import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.retention.ArchiveException;
import dev.ratelimit.audit.retention.AuditArchive;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The actuator endpoint over HTTP and JMX, in an application without Spring Security. The sample tests the roles. */
@ExtendWith(OutputCaptureExtension.class)
class EndpointTest {

    private static final String[] EXPOSED = {"management.endpoints.web.exposure.include=ratelimit"};

    @TempDir
    private static Path folder;

    private static RunningApplication application;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {}

    @RestController
    static class Games {

        @GetMapping("/api/games")
        String games() {
            return "x";
        }
    }

    private static RunningApplication start(String file, String... settings) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.store.sqlite.path=" + folder.resolve(file),
                "ratelimit.limits.api.algorithm=fixed-window",
                "ratelimit.limits.api.max-requests=3",
                "ratelimit.limits.api.window=3660d",
                "ratelimit.limits.login.algorithm=fixed-window",
                "ratelimit.limits.login.max-requests=1",
                "ratelimit.limits.login.window=1m",
                "ratelimit.limits.login.penalties[0].after=1",
                "ratelimit.limits.login.penalties[0].block=10m",
                "ratelimit.rules.api.path=/api/**",
                "ratelimit.rules.api.key=ip",
                "ratelimit.rules.api.limits=api"));
        all.addAll(Arrays.asList(settings));
        return RunningApplication.start(List.of(Application.class, Games.class), all.toArray(String[]::new));
    }

    @BeforeAll
    static void start() {
        application = start("endpoint.db", EXPOSED);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return application.get("/actuator/ratelimit" + path);
    }

    private static HttpResponse<String> post(String path, String body) throws Exception {
        return application.post("/actuator/ratelimit" + path, "application/json", body);
    }

    private static HttpResponse<String> delete(String path) throws Exception {
        return application.send("/actuator/ratelimit" + path, HttpRequest.Builder::DELETE);
    }

    private static <T> T read(HttpResponse<String> answer, String path) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JsonPath.read(answer.body(), path);
    }

    private static String because(String more) {
        return "{\"reason\": \"a test\", " + more + "}";
    }

    // Reads

    @Test
    void theOverviewShowsTheInstance() throws Exception {
        HttpResponse<String> overview = get("");

        assertThat(JsonPath.<Boolean>read(overview.body(), "$.enabled")).isTrue();
        assertThat(JsonPath.<String>read(overview.body(), "$.instance.store.circuit"))
                .isEqualTo("closed");
        assertThat(JsonPath.<String>read(overview.body(), "$.instance.store.name"))
                .contains("endpoint.db");
        assertThat(JsonPath.<List<String>>read(overview.body(), "$.sections")).contains("limits", "explain");
    }

    @Test
    void limitsAndRules() throws Exception {
        assertThat(JsonPath.<List<String>>read(get("/limits").body(), "$.limits[*].name"))
                .contains("api", "login");
        HttpResponse<String> api = get("/limits/login");
        assertThat(JsonPath.<String>read(api.body(), "$.limit.sentence")).contains("1 request");
        assertThat(JsonPath.<List<String>>read(api.body(), "$.limit.properties[?(@.name == 'window')].source.from"))
                .containsExactly("configuration");
        assertThat(JsonPath.<List<String>>read(get("/rules").body(), "$.rules[*].name"))
                .contains("api");
        assertThat(JsonPath.<String>read(get("/rules/api").body(), "$.rule.properties.path"))
                .isEqualTo("/api/**");
    }

    @Test
    void readingChargesNothing() throws Exception {
        for (int i = 0; i < 5; i++) {
            assertThat(JsonPath.<Integer>read(get("/addresses/192.0.2.77").body(), "$.limits[0].count.used"))
                    .isZero();
            assertThat(JsonPath.<String>read(
                            get("/explain?request=GET%20/api/games&address=192.0.2.77")
                                    .body(),
                            "$.outcome"))
                    .isEqualTo("allowed");
        }
    }

    @Test
    void explainsAPastedCurlLineWithoutItsSecrets() throws Exception {
        HttpResponse<String> explained =
                get("/explain?request=curl%20-u%20alice:sesame%20http://localhost/api/games" + "&address=192.0.2.1");

        assertThat(JsonPath.<String>read(explained.body(), "$.request.user")).isEqualTo("alice");
        assertThat(JsonPath.<List<Boolean>>read(explained.body(), "$.rules[?(@.name == 'api')].applies"))
                .containsExactly(true);
        assertThat(explained.body()).doesNotContain("sesame");
    }

    @Test
    void theSecretOfAnApiKeyIsNowhere() throws Exception {
        IssuedKey issued = application
                .bean(RateLimitAdmin.class)
                .keys()
                .create(NewApiKey.of("build", "keyowner"), Change.by("test"));
        String everything = get("/users/keyowner").body()
                + get("/keys/" + issued.id()).body()
                + get("/changes").body()
                + get("/explain?request=curl%20-H%20%27X-API-Key:" + issued.secret()
                                + "%27%20http://localhost/api/games")
                        .body();

        assertThat(everything)
                .contains(issued.id())
                .doesNotContain(issued.secret().substring(16));
        assertThat(JsonPath.<String>read(
                        post("/keys/" + issued.id(), because("\"action\": \"revoke\""))
                                .body(),
                        "$.apiKeys[0].state"))
                .isEqualTo("revoked");
    }

    // Changes

    @Test
    void aLimitIsRaisedForATimeRolledBackAndRemoved() throws Exception {
        HttpResponse<String> raised =
                post("/limits/api", because("\"properties\": \"max-requests: 500; window: 1m\", \"duration\": \"1h\""));
        int version = read(raised, "$.version");
        assertThat(JsonPath.<String>read(raised.body(), "$.change.by")).isEqualTo("unauthenticated (endpoint)");
        assertThat(JsonPath.<String>read(raised.body(), "$.change.until")).endsWith("Z");
        read(post("/limits/api", because("\"properties\": \"max-requests: 7\"")), "$.version");
        HttpResponse<String> one = get("/limits/api?from=" + version);
        assertThat(JsonPath.<List<String>>read(one.body(), "$.difference.properties[*].name"))
                .containsExactly("max-requests", "window");
        read(post("/limits/api", because("\"action\": \"roll-back\", \"version\": " + version)), "$.version");
        assertThat(JsonPath.<List<String>>read(
                        get("/limits/api").body(), "$.limit.properties[?(@.name == 'max-requests')].value"))
                .containsExactly("500");

        assertThat(JsonPath.<String>read(delete("/limits/api?reason=over").body(), "$.state"))
                .isEqualTo("removed");
        assertThat(JsonPath.<List<String>>read(get("/changes/limit/api").body(), "$.changes[*].action"))
                .startsWith("remove", "roll-back", "set");
    }

    @Test
    void switchesLimitsRulesAndEverything() throws Exception {
        read(post("/limits/login", because("\"action\": \"off\"")), "$.version");
        assertThat(JsonPath.<Boolean>read(get("/limits/login").body(), "$.limit.enabled"))
                .isFalse();
        read(post("/limits/login", because("\"action\": \"on\"")), "$.version");
        read(post("/rules/api", because("\"action\": \"off\"")), "$.version");
        assertThat(JsonPath.<Boolean>read(get("/rules/api").body(), "$.rule.enabled"))
                .isFalse();
        read(post("/rules/api", because("\"action\": \"on\"")), "$.version");
        read(post("/everything", because("\"action\": \"off\", \"duration\": \"5m\"")), "$.version");
        assertThat(JsonPath.<Boolean>read(get("").body(), "$.enabled")).isFalse();
        read(post("/everything", because("\"action\": \"on\"")), "$.version");
        assertThat(JsonPath.<Boolean>read(get("").body(), "$.enabled")).isTrue();
    }

    @Test
    void blocksUsersAndAddresses() throws Exception {
        assertThat(JsonPath.<String>read(
                        post("/users/mallory", because("\"action\": \"block\", \"duration\": \"2h\""))
                                .body(),
                        "$.block.reason"))
                .isEqualTo("a test");
        assertThat(JsonPath.<String>read(get("/users/mallory").body(), "$.block.until"))
                .endsWith("Z");
        assertThat(delete("/users/mallory?reason=paid").body()).contains("\"block\":null");

        read(post("/addresses/198.51.100.0/24", because("\"action\": \"block\", \"duration\": \"1h\"")), "$.version");
        assertThat(JsonPath.<String>read(
                        get("/explain?request=GET%20/api/games&address=198.51.100.9")
                                .body(),
                        "$.outcome"))
                .isEqualTo("blocked");
        assertThat(JsonPath.<List<String>>read(get("/rules").body(), "$.rules[*].name"))
                .contains("blocked:198.51.100.0/24");
        read(delete("/addresses/198.51.100.0/24?reason=over"), "$.version");
        assertThat(JsonPath.<String>read(
                        get("/explain?request=GET%20/api/games&address=198.51.100.9")
                                .body(),
                        "$.outcome"))
                .isEqualTo("allowed");
    }

    @Test
    void penaltiesAreListedAndCleared() throws Exception {
        Subject trudy = Subject.user("trudy");
        RateLimiter limiter = application.bean(RateLimiter.class);
        limiter.decide(trudy, "login");
        limiter.decide(trudy, "login");

        assertThat(JsonPath.<List<String>>read(get("/penalties").body(), "$.penalties[*].subject"))
                .contains("user:trudy");
        assertThat(JsonPath.<List<String>>read(get("/search/tru").body(), "$.subjects"))
                .containsExactly("user:trudy");
        assertThat(JsonPath.<Boolean>read(get("/users/trudy").body(), "$.limits[0].penalty.active"))
                .isTrue();
        read(post("/subjects/user:trudy", because("\"action\": \"clear-penalty\", \"limit\": \"login\"")), "$.subject");
        assertThat(JsonPath.<List<String>>read(get("/penalties").body(), "$.penalties[*].subject"))
                .doesNotContain("user:trudy");
        limiter.decide(trudy, "login");
        read(post("/users/trudy", because("\"action\": \"reset\"")), "$.subject");
        assertThat(limiter.peek(trudy, "login").allowed()).isTrue();
    }

    // Mistakes

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "/limits/api | {\"action\": \"off\", \"duraton\": \"1h\", \"reason\": \"x\"} | 400 | 'duraton' is unknown here; did you mean 'duration'?",
                "/limits/api | {\"action\": \"off\", \"x\": \"1h\", \"reason\": \"x\"} | 400 | 'x' is unknown here; the known ones are",
                "/limits/api?untill=2030-01-01T00:00:00Z | {\"action\": \"off\", \"reason\": \"x\"} | 400 | did you mean 'until'?",
                "/everything | {\"action\": \"off\", \"durration\": \"1h\", \"reason\": \"x\"} | 400 | did you mean 'duration'?",
                "/limits/api | {\"properties\": \"max-requests: 5\"} | 400 | the reason is missing; say why",
                "/limits/api | {\"properties\": \"max-requests: 5\", \"reason\": \" \"} | 400 | the reason is missing",
                "/limits/api | {\"properties\": \"max-requests: many\", \"reason\": \"x\"} | 400 | max-requests is 'many'",
                "/limits/api | {\"properties\": \"many\", \"reason\": \"x\"} | 400 | write a name, a colon and a value",
                "/limits/api | {\"reason\": \"x\"} | 400 | the action is missing; write set, off, on or roll-back",
                "/limits/api | {\"action\": \"up\", \"reason\": \"x\"} | 400 | the action is 'up'",
                "/limits/api | {\"action\": \"roll-back\", \"reason\": \"x\"} | 400 | the version is missing",
                "/limits/api | {\"action\": \"roll-back\", \"version\": \"one\", \"reason\": \"x\"} | 400 | version is 'one'",
                "/limits/api | {\"action\": \"roll-back\", \"version\": 99, \"reason\": \"x\"} | 400 | has no version 99",
                "/limits/api | {\"action\": \"off\", \"duration\": \"soon\", \"reason\": \"x\"} | 400 | duration is 'soon'",
                "/limits/api | {\"action\": \"off\", \"duration\": \"-1h\", \"reason\": \"x\"} | 400 | duration is '-1h'; write a time such as",
                "/limits/api | {\"action\": \"off\", \"duration\": \"-PT1H\", \"reason\": \"x\"} | 400 | duration is '-PT1H'; write a time from 1s",
                "/limits/api | {\"action\": \"off\", \"duration\": \"0s\", \"reason\": \"x\"} | 400 | duration is '0s'; write a time from 1s",
                "/limits/api | {\"action\": \"off\", \"duration\": \"\", \"reason\": \"x\"} | 400 | duration is ''",
                "/limits/api | {\"action\": \"off\", \"duration\": \"99999999999999999d\", \"reason\": \"x\"} | 400 | write a time such as",
                "/limits/api | {\"action\": \"off\", \"until\": \"2030-01-01\", \"reason\": \"x\"} | 400 | until is '2030-01-01'; write a moment such as",
                "/limits/api | {\"action\": \"off\", \"until\": \"+999999999-01-01T00:00:00Z\", \"reason\": \"x\"} | 400 | years",
                "/limits/api | {\"action\": \"off\", \"reason\": null} | 400 | the reason is missing",
                "/limits/api | {\"action\": \"roll-back\", \"version\": -1, \"reason\": \"x\"} | 400 | has no version -1",
                "/limits/api | {\"action\": \"roll-back\", \"version\": 99999999999, \"reason\": \"x\"} | 400 | has no version",
                "/subjects/user:alice | {\"action\": \"clear-penalty\", \"limit\": \"nowhere\", \"reason\": \"x\"} | 400 | 'nowhere'",
                "/subjects/user:alice | {\"action\": \"clear-penalty\", \"limit\": \" \", \"reason\": \"x\"} | 400 | the limit is missing",
                "/limits/api | {\"action\": \"off\", \"until\": \"2001-01-01T00:00:00Z\", \"reason\": \"x\"} | 400 | expires at 2001",
                "/limits/new!name | {\"properties\": \"max-requests: 5\", \"reason\": \"x\"} | 400 | limit",
                "/limits/nowhere | {\"action\": \"off\", \"reason\": \"x\"} | 400 | no limit 'nowhere' is in force",
                "/rules/nowhere | {\"action\": \"off\", \"reason\": \"x\"} | 400 | no rule 'nowhere' is in force",
                "/addresses/attacker | {\"action\": \"block\", \"reason\": \"x\"} | 400 | 'attacker'; write one such as",
                "/addresses/198.51.100.9/24 | {\"action\": \"block\", \"reason\": \"x\"} | 400 | write 198.51.100.0/24",
                "/users/mallory | {\"action\": \"block\", \"duration\": \"1h\", \"until\": \"x\", \"reason\": \"x\"} | 400 | both duration ('1h') and until ('x') are given; write one",
                "/users/mallory | {\"action\": \"block\", \"reason\": \"two\\nlines\"} | 400 | line break",
                "/keys/nothing | {\"action\": \"revoke\", \"reason\": \"x\"} | 400 | there is no API key with the id 'nothing'",
                "/subjects/alice | {\"action\": \"reset\", \"reason\": \"x\"} | 400 | write it as in user:alice",
                "/subjects/user:alice | {\"action\": \"reset\", \"limit\": \"ap\", \"reason\": \"x\"} | 400 | no limit 'ap' is in force",
                "/subjects/session:7 | {\"action\": \"reset\", \"reason\": \"x\"} | 400 | no limit is known to count 'session:7'",
                "/addresses/192.0.2.99 | {\"action\": \"unblock\", \"reason\": \"x\"} | 400 | 192.0.2.99/32 is not blocked",
                "/users/nobody | {\"action\": \"unblock\", \"reason\": \"x\"} | 400 | user 'nobody' is not blocked",
                "/limits/api | {\"action\": \"off\", \"properties\": \"max-requests: 9\", \"reason\": \"x\"} | 400 | the field properties has no effect with the action off",
                "/users/mallory | {\"action\": \"block\", \"limit\": \"api\", \"reason\": \"x\"} | 400 | the field limit has no effect",
                "/limits/api | {\"properties\": \"max-requests:\", \"reason\": \"x\"} | 400 | max-requests is ''; write a value",
                "/limits/api | {\"properties\": \"max-requests: 9\", \"version\": 77, \"reason\": \"x\"} | 409 | was changed meanwhile",
                "/limits/api | {\"action\": \"roll-back\", \"version\": 0, \"reason\": \"x\"} | 400 | to return to the configuration, use DELETE",
                "/subjects/ip:1.2.3.4/33 | {\"action\": \"reset\", \"reason\": \"x\"} | 400 | the address is '1.2.3.4/33'",
                "/limits/api | {\"properties\": \"cost: 1; cost: 2\", \"reason\": \"x\"} | 400 | hold 'cost' twice",
                "/nothing/alice | {\"action\": \"reset\", \"reason\": \"x\"} | 404 | nothing is changed at 'nothing'",
                "/everything | {\"action\": \"of\", \"reason\": \"x\"} | 400 | the action is 'of'; write off or on",
                "/backups | {\"reason\": \"x\"} | 409 | ratelimit.backup.directory is missing",
            })
    void aMistakeIsExplained(String path, String body, int status, String detail) throws Exception {
        int before = JsonPath.<List<?>>read(get("/changes?most=1000").body(), "$.changes")
                .size();

        HttpResponse<String> answer = post(path, body);

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(JsonPath.<String>read(answer.body(), "$.detail")).contains(detail);
        assertThat(JsonPath.<List<?>>read(get("/changes?most=1000").body(), "$.changes"))
                .hasSize(before);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "/denied?lats=1h | 400 | 'lats' is unknown here; did you mean 'last'?",
                "/nothing | 404 | there is no section 'nothing'; name one of",
                "/limits/nowhere | 404 | no limit 'nowhere' is in force; name one of",
                "/limits/quota:day | 404 | 'quota:day' is a part of the quota",
                "/limits/api:address | 404 | a multiple of limit 'api'",
                "/blocks?most=0 | 400 | write a number from 1 to 1000",
                "/rules/nowhere | 404 | no rule 'nowhere' is in force; name one of",
                "/users | 400 | write users/alice",
                "/addresses/attacker | 400 | the address is 'attacker'; write one such as",
                "/subjects/alice | 400 | write it as in user:alice",
                "/penalties?most=0 | 400 | write a number from 1 to 1000",
                "/penalties?most=100000 | 400 | write a number from 1 to 1000",
                "/penalties?most=99999999999999 | 400 | write a number from 1 to 1000",
                "/changes?before=x | 400 | before is 'x'; write a whole number",
                "/changes/colour | 400 | the kind of a change is 'colour'",
                "/limits/api?from=77 | 400 | limit 'api' has no version 77",
                "/explain | 400 | the request is missing",
                "/explain?request=/api | 400 | write its method and its path",
                "/explain?request=GET%20api | 400 | begin it with /",
                "/explain?request=GET%20/api&address=here | 400 | the address is 'here'",
                "/explain?request=curl%20-X | 400 | the option -X has no value",
            })
    void aWrongQuestionIsExplained(String path, int status, String detail) throws Exception {
        HttpResponse<String> answer = get(path);

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(JsonPath.<String>read(answer.body(), "$.detail")).contains(detail);
    }

    @ParameterizedTest
    @ValueSource(strings = {"not json", "[1]", "{\"reason\": {\"a\": 1}}"})
    void aBodyThatIsNoFlatObjectIsRefused(String body) throws Exception {
        assertThat(post("/everything", body).statusCode()).isEqualTo(400);
    }

    @Test
    void blocksOfUsersAndAddressesAreListed() throws Exception {
        post("/addresses/198.51.100.0/24", because("\"action\": \"block\""));
        post("/users", because("\"name\": \"bl\u200cocked\", \"action\": \"block\""));

        assertThat(JsonPath.<List<String>>read(get("/blocks").body(), "$.blocks[*].subject"))
                .contains("ip:198.51.100.0/24", "user:bl%E2%80%8Cocked");
        assertThat(read(get("/addresses/198.51.100.9"), "$.block.subject").toString())
                .isEqualTo("ip:198.51.100.0/24");
        delete("/addresses/198.51.100.0/24?reason=over");
        post("/users", because("\"name\": \"bl\u200cocked\", \"action\": \"unblock\""));
        assertThat(JsonPath.<List<String>>read(get("/blocks").body(), "$.blocks[*].subject"))
                .doesNotContain("ip:198.51.100.0/24", "user:bl%E2%80%8Cocked");
    }

    @Test
    void anEndIsRefusedWhereAChangeHasNone() throws Exception {
        HttpResponse<String> answer =
                post("/users/mallory", "{\"action\":\"unblock\",\"duration\":\"1h\",\"reason\":\"incident\"}");

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
        assertThat(answer.body()).contains("unblock has no end");
    }

    @ParameterizedTest
    @CsvSource({"backups, a backup has no end", "retention, a run of retention has no end"})
    void anEndIsRefusedForASectionWithoutOne(String section, String detail) throws Exception {
        for (String end : List.of("\"duration\": \"1h\"", "\"until\": \"2999-01-01T00:00:00Z\"")) {
            HttpResponse<String> answer = post("/" + section, because(end));

            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
            assertThat(answer.body()).contains(detail);
        }
    }

    @Test
    void aFolderThatCannotBeUsedIsUnavailableWithItsRemedy() throws Exception {
        Path file = Files.writeString(folder.resolve("no-folder"), "a file");
        try (RunningApplication other =
                start("no-backups.db", EXPOSED[0], "ratelimit.backup.directory=" + file.resolve("copies"))) {
            HttpResponse<String> answer =
                    other.post("/actuator/ratelimit/backups", "application/json", "{\"reason\": \"a test\"}");

            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
            assertThat(JsonPath.<String>read(answer.body(), "$.detail"))
                    .contains("ratelimit.backup.directory cannot be created", "write the path of a folder");
        }
    }

    @Test
    void aFailingDatabaseIsLoggedOnceAMinute(CapturedOutput output) throws Exception {
        try (RunningApplication other = start("failing.db", EXPOSED[0])) {
            try (Connection connection =
                            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("failing-audit.db"));
                    Statement statement = connection.createStatement()) {
                statement.execute("DROP TABLE rate_limit_audit_logs");
            }

            for (int i = 0; i < 3; i++) {
                HttpResponse<String> answer = other.get("/actuator/ratelimit/audit");
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
                assertThat(answer.body()).contains("the log of this instance has the cause");
            }
        }
        assertThat(output.getOut().split("failed a request to the endpoint", -1))
                .hasSize(2);
    }

    /** Stands for an archive whose folder is unreadable; the real one is in another module. */
    @Configuration(proxyBeanMethods = false)
    static class BrokenArchive {

        @Bean
        AuditArchive archive() {
            return (AuditArchive) Proxy.newProxyInstance(
                    EndpointTest.class.getClassLoader(),
                    new Class<?>[] {AuditArchive.class},
                    (proxy, method, given) -> {
                        if (method.getDeclaringClass() == Object.class) {
                            return method.invoke(folder, given);
                        }
                        throw new ArchiveException("the folder /archives cannot be read; make it readable");
                    });
        }
    }

    @Test
    void anArchiveThatCannotBeReadIsUnavailableWithItsRemedy() throws Exception {
        try (RunningApplication other = RunningApplication.start(
                List.of(Application.class, Games.class, BrokenArchive.class),
                "ratelimit.store.sqlite.path=" + folder.resolve("no-archive.db"),
                "ratelimit.audit.archive.location=" + folder.resolve("archives"),
                EXPOSED[0])) {
            HttpResponse<String> plan = other.get("/actuator/ratelimit/retention");
            HttpResponse<String> run =
                    other.post("/actuator/ratelimit/retention", "application/json", "{\"reason\": \"a test\"}");

            assertThat(plan.statusCode()).as(plan.body()).isEqualTo(503);
            assertThat(JsonPath.<String>read(plan.body(), "$.detail"))
                    .isEqualTo("the folder /archives cannot be read; make it readable");
            // What was dropped is reported, too.
            assertThat(run.statusCode()).as(run.body()).isEqualTo(200);
            assertThat(JsonPath.<List<String>>read(run.body(), "$.retention.failures"))
                    .containsExactly(
                            "Could not drop old archives: the folder /archives cannot be read; make it readable");
        }
    }

    @Test
    void auditOfAnAddressAndOfAnEscapedName() throws Exception {
        try (RunningApplication other = start("ipv6.db", EXPOSED[0], "ratelimit.identity.trusted-proxies=127.0.0.1")) {
            for (int i = 0; i < 4; i++) {
                other.get("/api/games", "X-Forwarded-For", "2001:db8::" + i);
            }
            String[] found = {"ip:2001:db8::/64", "ip:2001:db8:0:0:0:0:0:0/64", "ip:2001:db8::3", "ip:2001:DB8:0::3/128"
            };
            Awaitility.await().untilAsserted(() -> {
                other.bean(RequestAudit.class).flush();
                assertThat(audited(other, "ip:2001:db8::3")).hasSize(1);
            });
            for (String subject : found) {
                assertThat(audited(other, subject)).as(subject).containsExactly("2001:db8:0:0:0:0:0:3");
            }
            assertThat(audited(other, "ip:2001:db8::2")).isEmpty();
            assertThat(audited(other, "ip:2001:db8:0:1::/64")).isEmpty();
            assertThat(reported(other, "search/2001:db8::9")).contains("ip:2001:db8:0:0:0:0:0:0/64");
        }
    }

    private static List<String> audited(RunningApplication application, String subject) throws Exception {
        return JsonPath.read(
                reported(application, "audit?name=" + URLEncoder.encode(subject, StandardCharsets.UTF_8)),
                "$.audit[*].who.address");
    }

    @Test
    void removalsNeedAReasonToo() throws Exception {
        HttpResponse<String> answer = delete("/users/mallory");

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("the reason is missing");
    }

    // Exposure

    @Test
    void itIsNotExposedUnlessTheApplicationSaysSo() throws Exception {
        try (RunningApplication other = start("hidden.db")) {
            assertThat(other.get("/actuator/ratelimit").statusCode()).isEqualTo(404);
            assertThat(other.has(RateLimitEndpoint.class)).isFalse();
        }
    }

    @Test
    void accessCanBeReadOnly() throws Exception {
        try (RunningApplication other =
                start("readonly.db", EXPOSED[0], "management.endpoint.ratelimit.access=read-only")) {
            assertThat(other.get("/actuator/ratelimit/limits").statusCode()).isEqualTo(200);
            assertThat(other.post("/actuator/ratelimit/everything", "application/json", because("\"action\": \"off\""))
                            .statusCode())
                    .isEqualTo(405);
        }
    }

    @Test
    void answersOnAPortForManagement() throws Exception {
        try (RunningApplication other = start("port.db", EXPOSED[0], "management.server.port=0")) {
            assertThat(other.get("/actuator/ratelimit").statusCode()).isEqualTo(404);
            String port = other.property("local.management.port");
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(
                                            URI.create("http://127.0.0.1:" + port + "/actuator/ratelimit/limits"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).contains("max-requests");
        }
    }

    @Test
    void withoutADatabaseItShowsAndOnlyResetsCounts(CapturedOutput output) throws Exception {
        try (RunningApplication other = start("none.db", EXPOSED[0], "ratelimit.store.type=memory")) {
            assertThat(other.get("/actuator/ratelimit/limits").body()).contains("max-requests");
            HttpResponse<String> refused =
                    other.post("/actuator/ratelimit/everything", "application/json", because("\"action\": \"off\""));
            assertThat(refused.statusCode()).isEqualTo(409);
            assertThat(refused.body()).contains("set ratelimit.policy.store");

            // Counts are in the store, which has no log of changes: the log of the application has it.
            Subject subject = Subject.user("mia");
            RateLimiter limiter = other.bean(RateLimiter.class);
            limiter.decide(subject, "api");
            HttpResponse<String> reset = other.post(
                    "/actuator/ratelimit/users/mia",
                    "application/json",
                    because("\"action\": \"reset\", \"limit\": \"api\""));
            assertThat(reset.statusCode()).as(reset.body()).isEqualTo(200);
            assertThat(limiter.peek(subject, "api").remaining()).isEqualTo(3);
            assertThat(output).containsPattern("Reset limit api for user:mia, by .* \\(reason: a test\\)");
            assertThat(other.get("/actuator/ratelimit/retention").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void countsInMemoryAreResetOnAllLimits() throws Exception {
        try (RunningApplication other =
                start("policies.db", EXPOSED[0], "ratelimit.store.type=memory", "ratelimit.policy.store=sqlite")) {
            assertThat(other.get("/api/games").statusCode()).isEqualTo(200);
            Subject address = Subject.ip("127.0.0.1");
            RateLimiter limiter = other.bean(RateLimiter.class);
            assertThat(limiter.peek(address, "api").remaining()).isEqualTo(2);

            HttpResponse<String> reset = other.post(
                    "/actuator/ratelimit/addresses/127.0.0.1", "application/json", because("\"action\": \"reset\""));

            assertThat(reset.statusCode()).as(reset.body()).isEqualTo(200);
            assertThat(limiter.peek(address, "api").remaining()).isEqualTo(3);
            assertThat(reported(other, "changes")).contains("\"name\":\"ip:127.0.0.1\"", "a test");
        }
    }

    @Test
    void oldMonthsAreShownAndDroppedWithAReason() throws Exception {
        try (RunningApplication other = start("old.db", EXPOSED[0])) {
            try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("old-audit.db"));
                    Statement statement = connection.createStatement()) {
                statement.execute(
                        "INSERT INTO rate_limit_metrics (period_start, granularity, resource, user_id, endpoint,"
                                + " region, instance, total, allowed, throttled, blocked, exempt, failed, last_request_at)"
                                + " VALUES (981158400000000, 'minute', '', '', '', '', 'old', 1, 1, 0, 0, 0, 0, 0)");
            }
            assertThat(JsonPath.<List<String>>read(reported(other, "retention"), "$.retention.plan.months[*].month"))
                    .containsExactly("2001-02");

            HttpResponse<String> refused = other.post("/actuator/ratelimit/retention", "application/json", "{}");
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.body()).contains("the reason is missing");
            assertThat(reported(other, "retention")).contains("2001-02");

            HttpResponse<String> run = other.post(
                    "/actuator/ratelimit/retention", "application/json", "{\"reason\": \"the disk is full\"}");
            assertThat(JsonPath.<List<String>>read(run.body(), "$.retention.dropped[*].rows"))
                    .containsExactly("totals per minute");
            assertThat(JsonPath.<List<String>>read(reported(other, "retention"), "$.retention.plan.months[*].month"))
                    .isEmpty();
            assertThat(reported(other, "retention")).contains("\"lastRun\":{");
            assertThat(reported(other, "changes/retention")).contains("\"action\":\"run\"", "the disk is full");
        }
    }

    /** Servers refuse these characters in paths, however they are encoded. */
    @ParameterizedTest
    @ValueSource(strings = {"DOMAIN\\mallory", "https://idp/mallory", "a;b", "a%b", "a/../b", "<script>", "x\u0000y"})
    void anyNameCanBeAParameter(String name) throws Exception {
        String query = "?name=" + URLEncoder.encode(name, StandardCharsets.UTF_8);
        String body = "\"name\": \"" + name.replace("\\", "\\\\").replace("\u0000", "\\u0000") + "\", ";

        HttpResponse<String> blocked = post("/users", because(body + "\"action\": \"block\""));
        if (name.contains("\u0000")) {
            assertThat(blocked.statusCode()).isEqualTo(400);
            assertThat(blocked.body()).contains("a character that no database can store");
            return;
        }
        assertThat(JsonPath.<String>read(blocked.body(), "$.block.reason")).isEqualTo("a test");
        assertThat(JsonPath.<String>read(get("/users" + query).body(), "$.user"))
                .isEqualTo(name);
        assertThat(JsonPath.<String>read(get("/users" + query).body(), "$.block.reason"))
                .isEqualTo("a test");
        assertThat(post("/users", because(body + "\"action\": \"unblock\"")).body())
                .contains("\"block\":null");
        assertThat(get("/search" + query).statusCode()).isEqualTo(200);
    }

    @Test
    void backupIsLoggedWithItsReason() throws Exception {
        try (RunningApplication other =
                start("backed-up.db", EXPOSED[0], "ratelimit.backup.directory=" + folder.resolve("copies"))) {
            HttpResponse<String> made = other.post(
                    "/actuator/ratelimit/backups", "application/json", "{\"reason\": \"before the upgrade\"}");
            assertThat(made.statusCode()).as(made.body()).isEqualTo(200);

            String changes = other.get("/actuator/ratelimit/changes").body();
            assertThat(changes).contains("back-up", "before the upgrade", "backed-up-audit");
            assertThat(folder.resolve("copies").toFile().list()).hasSize(2);
        }
    }

    @Test
    void overviewListsWarnings() throws Exception {
        try (RunningApplication other = start("warned.db", EXPOSED[0], "ratelimit.monitoring.warnings.offenders=1")) {
            assertThat(reported(other, "")).contains("\"warnings\":[]");
            for (int i = 0; i < 5; i++) {
                other.get("/api/games");
            }
            Awaitility.await()
                    .untilAsserted(() -> assertThat(reported(other, ""))
                            .contains("many-offenders", "Limit api denied about 1 different subjects"));
        }
    }

    @Test
    void reportsCountRequests() throws Exception {
        try (RunningApplication other = start("reports.db", EXPOSED[0])) {
            for (int i = 0; i < 5; i++) {
                other.get("/api/games");
            }
            // A request is recorded once its response is complete: the client may have that before.
            Awaitility.await().untilAsserted(() -> {
                other.bean(RequestAudit.class).flush();
                assertThat(JsonPath.<List<Integer>>read(reported(other, "rates"), "$..violations"))
                        .containsExactly(2);
            });

            assertThat(reported(other, "busiest")).contains("127.0.0.1", "\"limit\":\"api\"");
            assertThat(JsonPath.<List<Double>>read(reported(other, "rates"), "$..percent"))
                    .containsExactly(40.0);
            assertThat(JsonPath.<List<Integer>>read(reported(other, "violations"), "$..violations[*].violations"))
                    .containsExactly(2);
            assertThat(reported(other, "audit")).contains("throttled");
            assertThat(reported(other, "timeline/api")).contains("allowed");
            assertThat(reported(other, "denied")).contains("127.0.0.1");
        }
    }

    private static String reported(RunningApplication application, String section) throws Exception {
        HttpResponse<String> answer = application.get("/actuator/ratelimit" + (section.isEmpty() ? "" : "/" + section));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    @Test
    void answersOverJmx() throws Exception {
        try (RunningApplication other = start(
                "jmx.db",
                "spring.jmx.enabled=true",
                "spring.application.name=jmx-test",
                "management.endpoints.jmx.exposure.include=ratelimit")) {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName("org.springframework.boot:type=Endpoint,name=Ratelimit");
            String[] text = {String.class.getName()};

            Object rules = server.invoke(
                    name,
                    "section",
                    new Object[] {"rules", null, null, null, null, null, null, null, null},
                    times(text[0], 9));
            assertThat(rules).asInstanceOf(MAP).containsKey("rules");
            Object changed = server.invoke(
                    name,
                    "changeSection",
                    new Object[] {"everything", null, "off", null, "5m", null, "a test"},
                    times(text[0], 7));
            assertThat(changed).asInstanceOf(MAP).containsEntry("name", "*");
            assertThat(other.bean(RateLimitAdmin.class).isEnabled()).isFalse();
        }
    }

    private static String[] times(String type, int number) {
        String[] types = new String[number];
        Arrays.fill(types, type);
        return types;
    }
}
