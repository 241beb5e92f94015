package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.login.LoginLimits;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A limit that an annotation or a login names, and that is stored only, may be lost while the application runs. */
@ExtendWith(OutputCaptureExtension.class)
class LostLimitTest {

    private static final Map<String, String> TWO =
            Map.of("algorithm", "fixed-window", "max-requests", "2", "window", "3660d");

    @TempDir
    private Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .build();
        }
    }

    @RestController
    static class Uploads {

        @GetMapping("/upload")
        @RateLimited("uploads")
        @RateLimited("calls")
        String upload() {
            return "x";
        }
    }

    @RestController
    static class Calls {

        @GetMapping("/call")
        @RateLimited("calls")
        String call() {
            return "x";
        }
    }

    @RestController
    static class Parcels {

        @GetMapping("/upload")
        @RateLimited(limit = "calls", countWhen = "#status == 200")
        @RateLimited("uploads")
        String parcel() {
            return "x";
        }
    }

    private Path file() {
        return folder.resolve("ratelimit.db");
    }

    private RunningApplication start(Class<?> controller, String... settings) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.store.sqlite.path=" + file(),
                "ratelimit.changes.poll-interval=1h",
                "ratelimit.limits.calls.algorithm=fixed-window",
                "ratelimit.limits.calls.max-requests=3",
                "ratelimit.limits.calls.window=3660d"));
        all.addAll(Arrays.asList(settings));
        return RunningApplication.start(List.of(Application.class, controller), all.toArray(String[]::new));
    }

    private void store(String limit) {
        try (RunningApplication before = start(Calls.class)) {
            before.bean(RateLimitAdmin.class).limits().set(limit, TWO, Change.by("ops"));
        }
    }

    /** As a file that was deleted and created again. */
    private void lose(RunningApplication application) throws SQLException {
        SqliteFile stored = SqliteFile.at(file());
        try (Connection connection = stored.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("DELETE FROM rate_limit_configs");
            statement.executeUpdate("DELETE FROM rate_limit_changes");
        }
        application.bean(StoredPolicies.class).refresh();
    }

    private static List<Integer> statuses(RunningApplication application, int times) {
        return IntStream.range(0, times)
                .mapToObj(i -> {
                    try {
                        HttpResponse<String> response = application.get("/upload");
                        return response.statusCode();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                })
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"local, 200, 429", "open, 200, 429", "closed, 503, 503"})
    void failurePolicyAppliesToAnnotatedMethodsAndTheOtherLimitsStillCount(
            String policy, int first, int fourth, CapturedOutput output) throws Exception {
        store("uploads");
        try (RunningApplication application = start(Uploads.class, "ratelimit.on-failure=" + policy)) {
            lose(application);

            assertThat(statuses(application, 4)).containsExactly(first, first, first, fourth);
        }
        assertThat(output)
                .containsOnlyOnce("@RateLimited on dev.ratelimit.starter.LostLimitTest$Uploads.upload() names the limit"
                        + " 'uploads', which no longer exists");
    }

    @Test
    void reservationOfACallThatIsRejectedForALostLimitIsGivenBackOnce() throws Exception {
        store("uploads");
        try (RunningApplication application = start(Parcels.class, "ratelimit.on-failure=closed")) {
            lose(application);

            assertThat(statuses(application, 4)).containsExactly(503, 503, 503, 503);
            assertThat(application
                            .bean(RateLimiter.class)
                            .peek(Subject.ip("127.0.0.1"), "calls")
                            .remaining())
                    .isEqualTo(3);
        }
    }

    @Test
    void limitThatIsStoredAgainApplies() throws Exception {
        store("uploads");
        try (RunningApplication application = start(Uploads.class)) {
            lose(application);
            assertThat(statuses(application, 1)).containsExactly(200);

            application.bean(RateLimitAdmin.class).limits().set("uploads", TWO, Change.by("ops"));

            assertThat(statuses(application, 3)).containsExactly(200, 200, 429);
        }
    }

    @Test
    void limitInUseIsNotRemoved() {
        store("uploads");
        store("logins");
        try (RunningApplication application = start(Uploads.class, "ratelimit.login.limit=logins")) {
            RateLimitAdmin admin = application.bean(RateLimitAdmin.class);

            assertThatThrownBy(() -> admin.limits().remove("uploads", Change.by("ops")))
                    .hasMessageContaining("@RateLimited");
            assertThatThrownBy(() -> admin.limits().remove("logins", Change.by("ops")))
                    .hasMessageContaining("ratelimit.login");
            assertThat(admin.limits().find("uploads")).isNotNull();
        }
    }

    @ParameterizedTest
    @CsvSource({"local, true", "open, true", "closed, false"})
    void failurePolicyAppliesToLogins(String policy, boolean passes, CapturedOutput output) throws Exception {
        store("logins");
        try (RunningApplication application =
                start(Calls.class, "ratelimit.login.limit=logins", "ratelimit.on-failure=" + policy)) {
            LoginLimits logins = application.bean(LoginLimits.class);
            AuthenticationManager manager = logins.limited(
                    login -> UsernamePasswordAuthenticationToken.authenticated(login.getName(), null, List.of()));
            lose(application);

            assertThat(logins.peek("alice").allowed()).isEqualTo(passes);
            if (passes) {
                assertThat(manager.authenticate(login()).getName()).isEqualTo("alice");
            } else {
                assertThatThrownBy(() -> manager.authenticate(login()))
                        .hasMessageContaining("no limit is called 'logins'")
                        .hasMessageContaining("on-failure is closed");
            }
        }
        assertThat(output).containsOnlyOnce("ratelimit.login.limit names the limit 'logins', which no longer exists");
    }

    private static UsernamePasswordAuthenticationToken login() {
        return UsernamePasswordAuthenticationToken.unauthenticated("alice", "right");
    }

    @Test
    void loginLimitByNameThatIsLostIsAMultipleOfTheOther(CapturedOutput output) throws Exception {
        store("names");
        try (RunningApplication application =
                start(Calls.class, "ratelimit.login.limit=calls", "ratelimit.login.name-limit=names")) {
            LoginLimits logins = application.bean(LoginLimits.class);
            assertThat(logins.peek("alice").limits())
                    .anySatisfy(limit -> assertThat(limit.limit().name()).isEqualTo("names"));
            lose(application);

            assertThat(logins.peek("alice").limits())
                    .anySatisfy(limit -> assertThat(limit.limit().name()).isEqualTo("calls:name"));
        }
        assertThat(output)
                .containsOnlyOnce("ratelimit.login.name-limit names the limit 'names', which no longer exists; using a"
                        + " multiple of 'calls'");
    }

    /** Whether they exist is not known before the database can be read. */
    @Test
    void limitsThatAreNotReadYetDoNotStopTheStart() {
        Path volume = folder.resolve("volume");
        try (RunningApplication application = start(
                Uploads.class,
                "ratelimit.store.type=sqlite",
                "ratelimit.store.required=false",
                "ratelimit.store.sqlite.path=" + volume.resolve("limits.db"),
                "ratelimit.login.limit=logins")) {
            assertThat(statuses(application, 1)).containsExactly(200);
        }
    }

    @Test
    void limitsThatDoNotExistStillStopTheStart() {
        Schema.migrate(SqliteFile.at(file()));

        assertThatThrownBy(() ->
                        start(Uploads.class, "ratelimit.store.required=false").close())
                .hasStackTraceContaining("uploads");
    }
}
