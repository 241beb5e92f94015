package guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.store.sqlite.Backups;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/** Runs the code of the guides in one application. */
@SpringBootTest(properties = "spring.autoconfigure.exclude=" + WithoutLogins.EXCLUDED)
@AutoConfigureMockMvc
@DirtiesContext // closes the file before its folder is deleted
@ExtendWith(OutputCaptureExtension.class)
class GuidesTest {

    @TempDir
    static Path directory;

    @DynamicPropertySource
    static void store(DynamicPropertyRegistry properties) {
        properties.add("ratelimit.store.type", () -> "sqlite");
        properties.add(
                "ratelimit.store.sqlite.path",
                () -> directory.resolve("guides.db").toString());
        properties.add(
                "ratelimit.backup.directory", () -> directory.resolve("backups").toString());
    }

    @Autowired
    MockMvcTester web;

    @Autowired
    PartnerKeys keys;

    @Autowired
    Incident incident;

    @Autowired
    NightlyBackup nightly;

    @Autowired
    Backups backups;

    @Autowired
    RateLimitAdmin admin;

    @Autowired
    RateLimiter limiter;

    @Autowired
    OnCallAlerts alerts;

    @Test
    void captchaFromTheThirdViolationOn() throws IOException {
        for (int violations = 0; violations <= 4; violations++) {
            MockHttpServletResponse response = new MockHttpServletResponse();

            new CaptchaRejections().reject(new MockHttpServletRequest(), response, rejection(violations));

            assertThat(response.getStatus()).isEqualTo(429);
            assertThat(response.getHeader("X-Captcha")).isEqualTo(violations < 3 ? null : "required");
        }
    }

    private static Rejection rejection(int violations) {
        Limit login = Limit.named("login")
                .algorithm(Algorithms.atMost(1, Window.of(Duration.ofMinutes(1))))
                .build();
        LimitDecision denied = new LimitDecision(
                Subject.user("alice"),
                login,
                null,
                Outcome.THROTTLED,
                0,
                0,
                Duration.ofSeconds(1),
                null,
                violations,
                false);
        return Rejection.of(Decision.of(0, List.of(denied), Duration.ZERO, null));
    }

    @Test
    void backupsAreWrittenAndListed() {
        nightly.write();

        assertThat(backups.list())
                .hasSize(2)
                .allSatisfy(backup -> assertThat(backup.name()).startsWith("guides-"))
                .anySatisfy(backup -> assertThat(backup.name()).startsWith("guides-audit-"));
    }

    @Test
    void failedLoginsAreCountedAndGetAPage(CapturedOutput output) {
        for (int i = 0; i < 5; i++) {
            assertThat(login("wonderland")).hasStatusOk();
            assertThat(login("guess")).hasStatus(401);
        }
        assertThat(login("guess")).hasStatus(429).contentType().isCompatibleWith("application/problem+json");

        MvcTestResult page = web.post()
                .uri("/login")
                .accept(MediaType.TEXT_HTML)
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"username\":\"alice\",\"password\":\"guess\"}")
                .exchange();

        assertThat(page).hasStatus(429).bodyText().startsWith("<!doctype html>").contains("try again in");
        assertThat(output).contains("Rejected as THROTTLED");
    }

    private MvcTestResult login(String password) {
        return web.post()
                .uri("/login")
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"username\":\"alice\",\"password\":\"" + password + "\"}")
                .exchange();
    }

    @Test
    void aPartnersKeyHasTheTierUntilItIsRevoked() {
        String secret = keys.issue("acme", "ops");

        assertThat(reports("X-API-Key", secret)).hasStatusOk().hasHeader("X-RateLimit-Limit", "1000");

        keys.revoke(secret.split("_")[1], "ops");
        assertThat(reports("X-API-Key", secret)).hasStatus(401);
    }

    @Test
    void listenersLearnOfPenalties() {
        Limit strict = Limit.named("strict")
                .algorithm(Algorithms.atMost(1, Window.of(Duration.ofHours(1))))
                .penalty(1, Duration.ofMinutes(5))
                .build();
        limiter.decide(Subject.user("mallory"), strict);
        limiter.decide(Subject.user("mallory"), strict);

        await().untilAsserted(() -> assertThat(alerts.messages())
                .anyMatch(message -> message.startsWith("user:mallory is blocked by strict until ")));
    }

    @Test
    void usageIsShownAndNotCharged() {
        assertThat(web.get().uri("/usage"))
                .hasStatusOk()
                .bodyJson()
                .extractingPath("remaining")
                .isNotNull();
    }

    @Test
    void tenantsHaveACountOfTheirOwn() {
        for (int i = 0; i < 3; i++) {
            assertThat(tenant("one")).hasStatusOk();
        }

        assertThat(tenant("one")).hasStatus(429);
        assertThat(tenant("two")).hasStatusOk();
    }

    private MvcTestResult tenant(String name) {
        return web.get()
                .uri("/api/reports")
                .with(request -> {
                    request.setServerName(name + ".example.com");
                    return request;
                })
                .exchange();
    }

    @Test
    void everythingCanBeAdministered() {
        AdminTour.limits(admin, Instant.now().plus(Duration.ofHours(1)));
        assertThat(admin.limits().history("api")).hasSizeGreaterThanOrEqualTo(3);

        AdminTour.switches(admin);
        assertThat(admin.limits().history("*")).hasSize(2);

        AdminTour.users(admin);
        assertThat(admin.quotas().find("alice")).isPresent();
        assertThat(AdminTour.keys(admin)).startsWith("rl_");

        AdminTour.rules(admin);
        assertThat(AdminTour.support(admin).outcome()).isEqualTo(Outcome.BLOCKED);
        admin.rules().remove("scraper", Change.by("ops"));
    }

    @Test
    void limitsChangeInAnIncident() {
        try {
            incident.slowDown("ops");
            assertThat(web.get().uri("/api/reports")).hasHeader("X-RateLimit-Limit", "50");

            incident.blockNetwork("127.0.0.0/8", "ops");
            assertThat(web.get().uri("/api/reports")).hasStatus(403);
            assertThat(incident.why("/api/reports", "127.0.0.1", "bob").outcome())
                    .isEqualTo(Outcome.BLOCKED);

            incident.blockUser("mallory", "ops");
            assertThat(incident.why("/api/reports", "192.0.2.1", "mallory").outcome())
                    .isEqualTo(Outcome.BLOCKED);
        } finally {
            incident.undo("ops");
        }
        assertThat(web.get().uri("/api/reports")).hasStatusOk().hasHeader("X-RateLimit-Limit", "100");
    }

    private MvcTestResult reports(String header, String value) {
        return web.get().uri("/api/reports").header(header, value).exchange();
    }
}
