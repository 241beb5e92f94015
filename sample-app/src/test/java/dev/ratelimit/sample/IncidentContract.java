package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The recipes of docs/incident.md, run by a shell exactly as they are written, against the sample on any database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class IncidentContract {

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```sh\\n(.*?)^```$");

    @TempDir
    static Path folder;

    private ConfigurableApplicationContext application;
    private RateLimitAdmin admin;

    /** The settings of the database, as arguments. */
    abstract List<String> database();

    @BeforeAll
    void start() throws Exception {
        assumeTrue(hasCurl(), "curl is not installed");
        List<String> arguments = new ArrayList<>(database());
        arguments.add("--server.port=0");
        arguments.add("--ratelimit.store.deadline=10s");
        application = new SpringApplicationBuilder(SampleApplication.class).run(arguments.toArray(String[]::new));
        admin = application.getBean(RateLimitAdmin.class);
    }

    private static boolean hasCurl() throws InterruptedException {
        try {
            return new ProcessBuilder("curl", "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @AfterAll
    void stop() {
        if (application != null) {
            application.close();
        }
    }

    /** The blocks of a section of the page. */
    private static List<String> recipes(String heading) throws IOException {
        String page = Files.readString(Path.of("../docs/incident.md"));
        int begin = page.indexOf("\n## " + heading + "\n");
        assertThat(begin).as("the heading '%s'", heading).isPositive();
        int end = page.indexOf("\n## ", begin + 1);
        Matcher block = BLOCK.matcher(page.substring(begin, end < 0 ? page.length() : end));
        List<String> blocks = new ArrayList<>();
        while (block.find()) {
            blocks.add(block.group(1));
        }
        assertThat(blocks).as("the recipes of '%s'", heading).isNotEmpty();
        return blocks;
    }

    /** Runs a block. Only the port differs from what the page exports. */
    private String run(String block) throws Exception {
        Path answer = Files.createTempFile(folder, "answer", ".json");
        ProcessBuilder shell = new ProcessBuilder("sh", "-e", "-u", "-c", block).redirectErrorStream(true);
        shell.environment()
                .put(
                        "RATELIMIT",
                        "http://localhost:"
                                + application.getEnvironment().getRequiredProperty("local.server.port")
                                + "/actuator/ratelimit");
        shell.environment().put("OPERATOR", "operator:operator");
        Process process = shell.redirectOutput(answer.toFile()).start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).as(block).isTrue();
        String output = Files.readString(answer, StandardCharsets.UTF_8);
        assertThat(process.exitValue()).as(block + "\n" + output).isZero();
        return output;
    }

    private String recipe(String heading, int number) throws Exception {
        return run(recipes(heading).get(number));
    }

    private int logIn(String credentials) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                        + application.getEnvironment().getRequiredProperty("local.server.port") + "/api/campaigns"))
                .header(
                        "Authorization",
                        "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"title\": \"test\"}"))
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    private long maxRequests() {
        return admin.policy().limits().get("reads").capacity();
    }

    @Test
    @DisplayName("The page exports the address and the operator that the recipes use")
    void exports() throws IOException {
        Matcher first = BLOCK.matcher(Files.readString(Path.of("../docs/incident.md")));
        assertThat(first.find()).isTrue();
        assertThat(first.group(1)).isEqualTo("""
                        export RATELIMIT=http://localhost:8080/actuator/ratelimit
                        export OPERATOR=operator:operator
                        """);
    }

    @Test
    @DisplayName("Raise a limit for an hour, and roll back")
    void raiseAndRollBack() throws Exception {
        assertThat(recipes("Raise a limit for an hour")).hasSize(1);
        recipe("Raise a limit for an hour", 0);
        assertThat(maxRequests()).isEqualTo(600);
        assertThat(admin.limits().history("reads").get(0).expiresAt()).isNotNull();

        assertThat(admin.policy().limits().get("reads-burst").capacity()).isEqualTo(100);
        assertThat(admin.policy().limits().find("reads", "premium").capacity()).isEqualTo(1200);
        assertThat(admin.policy().limits().find("reads-burst", "premium").capacity())
                .isEqualTo(200);

        assertThat(recipes("Roll back")).hasSize(2);
        assertThat(recipe("Roll back", 0))
                .as("the difference")
                .contains("\"name\":\"max-requests\",\"before\":\"60\",\"after\":\"600\"");
        assertThat(admin.limits().history("reads")).hasSize(2);
        assertThat(maxRequests()).as("the last command removes").isEqualTo(60);

        recipe("Roll back", 1);
        assertThat(maxRequests()).isEqualTo(600);
        assertThat(admin.limits().find("reads").version().expiresAt())
                .as("a raise that is applied again still ends")
                .isNotNull();
        admin.limits().remove("reads", Change.by("test"));
        admin.limits().remove("reads-burst", Change.by("test"));
    }

    @Test
    @DisplayName("Find out why someone gets 429s")
    void why() throws Exception {
        RateLimiter limiter = application.getBean(RateLimiter.class);
        limiter.decide(LimitRequest.of(Subject.user("alice"), "reads").cost(60));

        assertThat(recipes("Find out why someone gets 429s")).hasSize(2);
        assertThat(recipe("Find out why someone gets 429s", 0))
                .as("both questions, with the same answer")
                .matches("(?s).*\"outcome\":\"throttled\".*\"outcome\":\"throttled\".*")
                .contains("\"path\":\"/api/campaigns\"");
        assertThat(recipe("Find out why someone gets 429s", 1))
                .contains("\"limit\":\"reads\"")
                .contains("\"audit\":[");
        limiter.reset(Subject.user("alice"), "reads");
    }

    @Test
    @DisplayName("Unblock a customer")
    void unblock() throws Exception {
        admin.quotas().block("alice", Change.by("test").because("chargeback"));
        RateLimiter limiter = application.getBean(RateLimiter.class);
        limiter.decide(LimitRequest.of(Subject.user("alice"), "creation").cost(5));

        int answer = logIn("alice:wrong");
        for (int i = 0; i < 50 && answer == 401; i++) {
            answer = logIn("alice:wrong");
        }
        assertThat(answer).isEqualTo(429);
        assertThat(recipe("Find out why someone gets 429s", 1)).contains("\"subject\":\"name:alice+ip:127.0.0.1\"");

        assertThat(recipes("Unblock a customer")).hasSize(1);
        recipe("Unblock a customer", 0);

        assertThat(logIn("alice:alice")).as("failed logins are forgotten, too").isEqualTo(201);

        assertThat(admin.quotas().find("alice")).isEmpty();
        assertThat(limiter.peek(Subject.user("alice"), "creation").allowed()).isTrue();
    }

    @Test
    @DisplayName("Stop an attacker")
    void stopAnAttacker() throws Exception {
        Inquiry attack = Inquiry.of("GET", "/api/campaigns").from("198.51.100.9");
        assertThat(recipes("Stop an attacker")).hasSize(3);
        assertThat(recipe("Stop an attacker", 0)).contains("\"penalties\":[").contains("\"denied\":[");
        recipe("Stop an attacker", 1);
        assertThat(admin.explain(attack).outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(admin.quotas().find("mallory")).isPresent();

        recipe("Stop an attacker", 2);
        assertThat(admin.explain(attack).outcome()).isEqualTo(Outcome.ALLOWED);
    }

    @Test
    @DisplayName("Switch everything off and on, and see who did it")
    void switchOff() throws Exception {
        assertThat(recipes("Switch everything off")).hasSize(2);
        recipe("Switch everything off", 0);
        assertThat(admin.isEnabled()).isFalse();
        recipe("Switch everything off", 1);
        assertThat(admin.isEnabled()).isTrue();

        assertThat(recipe("See who changed what", 0))
                .contains("\"by\":\"operator\"")
                .contains("incident 7 is over");
        assertThat(admin.changes()
                        .list(ChangeLog.Query.newest(1))
                        .get(0)
                        .change()
                        .by())
                .isEqualTo("operator");
    }
}
