package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.annotation.RateLimited;
import jakarta.servlet.http.HttpServlet;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.authentication.TestingAuthenticationProvider;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** Settings that are probably a mistake are named in one line at startup; others are not. */
@ExtendWith(OutputCaptureExtension.class)
class ProbableMistakesTest {

    private static final String LINE = "Rate limit settings that are probably a mistake: ";

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class SecureApplication {}

    @RestController
    static class Notes {

        @GetMapping("/api/notes/{id}")
        @RateLimited("annotated")
        String note() {
            return "note";
        }
    }

    record Asking(RateLimiter limiter) {}

    @Configuration(proxyBeanMethods = false)
    static class AskingApplication {

        @Bean
        Asking asking(RateLimiter limiter) {
            return new Asking(limiter);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Routes {

        @Bean
        RouterFunction<ServerResponse> routes() {
            return RouterFunctions.route()
                    .GET("/routed/{id}", request -> ServerResponse.ok().build())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnServlet {

        @Bean
        ServletRegistrationBean<HttpServlet> own() {
            return new ServletRegistrationBean<>(new HttpServlet() {}, "/own/*");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnLogin {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) {
            return http.formLogin(form -> form.loginProcessingUrl("/session"))
                    .logout(logout -> logout.logoutUrl("/bye"))
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnFilter {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) {
            return http.addFilterBefore(
                            (request, response, chain) -> chain.doFilter(request, response), AuthorizationFilter.class)
                    .build();
        }
    }

    /** The later one of two settings of the same property counts. */
    private static String[] settings(String... more) {
        List<String> settings = new ArrayList<>(List.of("ratelimit.store.type=memory"));
        for (String limit : List.of("api", "annotated")) {
            settings.add("ratelimit.limits." + limit + ".algorithm=fixed-window");
            settings.add("ratelimit.limits." + limit + ".max-requests=1");
            settings.add("ratelimit.limits." + limit + ".window=1m");
        }
        settings.add("ratelimit.rules.api.path=/api/**");
        settings.add("ratelimit.rules.api.limits=api");
        settings.addAll(List.of(more));
        Map<String, String> byProperty = new LinkedHashMap<>();
        settings.forEach(setting -> byProperty.put(setting.substring(0, setting.indexOf('=')), setting));
        return byProperty.values().toArray(String[]::new);
    }

    private static void start(List<Class<?>> classes, String... more) {
        RunningApplication.start(classes, settings(more)).close();
    }

    /** All limits are switched off by one of its own, which no rule names. */
    @Test
    void switchOfAllLimitsIsNotNamed(CapturedOutput output) {
        start(List.of(Application.class, Notes.class), "ratelimit.enabled=false");

        assertThat(output).contains("Rate limiting is off").doesNotContain(LINE);
    }

    @Test
    void nothingIsSaidOfSettingsThatAreRight(CapturedOutput output) {
        start(
                List.of(Application.class, Notes.class),
                "ratelimit.rules.all.limits=api",
                "ratelimit.rules.one.limits=api",
                "ratelimit.rules.one.path=/api/notes/{id}/",
                "ratelimit.rules.any.limits=api",
                "ratelimit.rules.any.path=/*/notes/*",
                "ratelimit.rules.error.limits=api",
                "ratelimit.rules.error.path=/error",
                "ratelimit.rules.root.limits=api",
                "ratelimit.rules.root.path=/",
                "ratelimit.rules.actuator.limits=api",
                "ratelimit.rules.actuator.path=/actuator/health/**",
                "ratelimit.rules.webjars.limits=api",
                "ratelimit.rules.webjars.path=/webjars/**",
                "ratelimit.rules.static.limits=api",
                "ratelimit.rules.static.path=/pictures/**",
                "ratelimit.rules.file.limits=api",
                "ratelimit.rules.file.path=/pictures/dot.svg",
                "ratelimit.rules.scanners.action=block",
                "ratelimit.rules.scanners.path=/wp-admin/**");

        assertThat(output).doesNotContain(LINE);
    }

    @Test
    void unusedLimitIsNamed(CapturedOutput output) {
        start(
                List.of(Application.class, Notes.class),
                "ratelimit.limits.logn.base=shared",
                "ratelimit.limits.shared.algorithm=fixed-window",
                "ratelimit.limits.shared.max-requests=1",
                "ratelimit.limits.shared.window=1m");

        assertThat(output).contains(LINE + "no rule and no @RateLimited names the limit logn\n");
    }

    @Test
    void exemptAddressesThatAreProxiesAreNamed(CapturedOutput output) {
        start(
                List.of(Application.class, Notes.class),
                "ratelimit.identity.trusted-proxies=10.0.0.0/8,192.0.2.1",
                "ratelimit.exempt.addresses=10.1.2.0/24,192.0.2.0/24");

        assertThat(output)
                .contains(LINE
                        + "ratelimit.exempt.addresses has 10.1.2.0/24, which ratelimit.identity.trusted-proxies has,"
                        + " too: proxies are never exempt\n");
    }

    @Test
    void settingsInAWrongPlaceAreNoticed(CapturedOutput output) {
        RunningApplication.start(
                        List.of(Application.class),
                        "ratelimit.store.type=memory",
                        "spring.ratelimit.limits.api.algorithm=fixed-window")
                .close();

        assertThat(output).contains(LINE + "no limit is configured below ratelimit.limits\n");
    }

    @Test
    void limitsThatCodeMayAskForAreNotNamed(CapturedOutput output) {
        start(List.of(Application.class, Notes.class, AskingApplication.class), "ratelimit.limits.own.base=api");

        assertThat(output).doesNotContain(LINE);
    }

    @Test
    void pathsThatNoHandlerHasAreNamedInOneLine(CapturedOutput output) {
        start(
                List.of(Application.class, Notes.class),
                "ratelimit.rules.typo.limits=api",
                "ratelimit.rules.typo.path=/apii/**",
                "ratelimit.rules.deep.limits=api",
                "ratelimit.rules.deep.path=/api/notes/{id}/comments",
                "ratelimit.rules.picture.limits=api",
                "ratelimit.rules.picture.path=/pictures/missing.svg");

        assertThat(output)
                .contains(LINE + "no handler has the path /apii/** of rule 'typo'; no handler has the path"
                        + " /api/notes/{id}/comments of rule 'deep'; no handler has the path /pictures/missing.svg of"
                        + " rule 'picture'\n");
    }

    @Test
    void nothingIsSaidOfPathsThatCannotBeKnown(CapturedOutput output) {
        start(
                List.of(Application.class, Notes.class, Routes.class),
                "ratelimit.rules.routed.limits=api",
                "ratelimit.rules.routed.path=/routed/**");
        start(
                List.of(Application.class, Notes.class, OwnServlet.class),
                "ratelimit.rules.own.limits=api",
                "ratelimit.rules.own.path=/own/things/**");
        start(
                List.of(SecureApplication.class, Notes.class, OwnFilter.class),
                "ratelimit.rules.login.limits=api",
                "ratelimit.rules.login.path=/session",
                "ratelimit.rules.oauth.limits=api",
                "ratelimit.rules.oauth.path=/login/oauth2/**");

        assertThat(output).doesNotContain(LINE);
    }

    private static final String[] OF_LOGINS = {
        "ratelimit.rules.form.limits=api",
        "ratelimit.rules.form.path=/session",
        "ratelimit.rules.page.limits=api",
        "ratelimit.rules.page.path=/login",
        "ratelimit.rules.out.limits=api",
        "ratelimit.rules.out.path=/bye"
    };

    @Test
    void pathsOfLoginsAreNotNamed(CapturedOutput output) {
        start(List.of(SecureApplication.class, Notes.class, OwnLogin.class), OF_LOGINS);
        start(
                List.of(SecureApplication.class, Notes.class, OwnLogin.class),
                Stream.concat(
                                Stream.of(OF_LOGINS),
                                Stream.of("spring.mvc.servlet.path=/app", "ratelimit.rules.api.path=/app/api/**"))
                        .toArray(String[]::new));

        assertThat(output).doesNotContain(LINE);
    }

    @Test
    void wholePathIsNamedAlsoBehindSecurity(CapturedOutput output) {
        start(
                List.of(SecureApplication.class, Notes.class),
                "ratelimit.rules.login.limits=api",
                "ratelimit.rules.login.path=/login",
                "ratelimit.rules.typo.limits=api",
                "ratelimit.rules.typo.path=/api/notess");
        assertThat(output).contains(LINE + "no handler has the path /api/notess of rule 'typo'\n");

        start(
                List.of(SecureApplication.class, Notes.class, OwnLogin.class),
                "ratelimit.rules.session.limits=api",
                "ratelimit.rules.session.path=/sesion");
        assertThat(output).contains(LINE + "no handler has the path /sesion of rule 'session'\n");
    }

    /** Both rules in one line, with everything else. */
    @Test
    void pathsOutsideOfTheServletAreNamedInTheSameLine(CapturedOutput output) {
        start(
                List.of(SecureApplication.class, Notes.class, OwnServlet.class),
                "spring.mvc.servlet.path=/app/v1",
                "ratelimit.limits.logn.base=api",
                "ratelimit.rules.one.limits=api",
                "ratelimit.rules.one.path=/notes/{id}",
                "ratelimit.rules.own.limits=api",
                "ratelimit.rules.own.path=/own/things",
                "ratelimit.rules.all.limits=api",
                "ratelimit.rules.all.path=/app/**");

        assertThat(output)
                .contains(LINE)
                .containsPattern(
                        LINE + ".*rule 'api' has the path /api/\\*\\*, but Spring MVC serves paths below /app/v1"
                                + " \\(spring.mvc.servlet.path\\): write /app/v1/api/\\*\\*; rule 'one' has the path /notes/\\{id},"
                                + " but Spring MVC serves paths below /app/v1 \\(spring.mvc.servlet.path\\): write"
                                + " /app/v1/notes/\\{id}")
                .containsPattern(LINE + ".*names the limit logn")
                .doesNotContain("rule 'own'", "rule 'all'");
        assertThat(StringUtils.countOccurrencesOf(output.getAll(), "Spring MVC serves paths below"))
                .isEqualTo(2);
    }

    @Test
    void contextPathIsNoPartOfAPath(CapturedOutput output) {
        start(
                List.of(SecureApplication.class, Notes.class),
                "server.servlet.context-path=/shop",
                "ratelimit.rules.api.path=/shop/api/**");

        assertThat(output)
                .contains(LINE
                        + "rule 'api' has the path /shop/api/** with the context path of the application: leave that"
                        + " out\n");
    }

    /** As in a profile: the first rules of both would be one. */
    @Test
    void listsOfRulesInSeveralFilesAreNamed(CapturedOutput output) throws Exception {
        Path file = folder.resolve("application.yaml");
        Files.writeString(file, """
                ratelimit.rules: [ { name: notes, path: /api/notes/*, key: ip, limits: [api] } ]
                ---
                ratelimit.rules: [ { name: all, path: /api/**, limits: [api] } ]
                """);

        start(List.of(Application.class, Notes.class), "spring.config.location=" + file.toUri());

        assertThat(output)
                .contains(LINE + "ratelimit.rules is a list in several places, which are merged by position (")
                .contains(
                        "application.yaml] - 3:28 and ", "application.yaml] - 1:28): write a map from names to rules");
    }

    @Test
    void copiesOfOneListOfRulesAreNotNamed(CapturedOutput output) throws Exception {
        String rules = "ratelimit.rules: [ { path: /api/notes/*, limits: [api] } ]\n";
        Path inside = Files.writeString(folder.resolve("application.yaml"), rules);
        Path beside = Files.writeString(folder.resolve("beside.yaml"), rules);

        start(
                List.of(Application.class, Notes.class),
                "spring.config.location=" + inside.toUri() + "," + beside.toUri());

        assertThat(output).doesNotContain("merged by position");
    }

    @Test
    void listOfRulesInOneFileIsNotNamed(CapturedOutput output) throws Exception {
        Path file = folder.resolve("application.yaml");
        Files.writeString(
                file, "ratelimit.rules: [ { path: /api/notes/*, limits: [api] }, { path: /api/**, limits: [api] } ]");

        start(
                List.of(Application.class, Notes.class),
                "spring.config.location=" + file.toUri(),
                "ratelimit.rules[1].priority=7");

        assertThat(output).doesNotContain("merged by position");
    }

    @Test
    void pathIsNamedAlsoBehindSecurityAndBelowTheServletPath(CapturedOutput output) {
        start(
                List.of(SecureApplication.class, Notes.class),
                "spring.mvc.servlet.path=/app",
                "ratelimit.rules.api.path=/app/api/**",
                "ratelimit.rules.typo.limits=api",
                "ratelimit.rules.typo.path=/app/apii/**");

        assertThat(output).contains(LINE + "no handler has the path /app/apii/** of rule 'typo'\n");
    }

    @Test
    void apiKeyThatNobodyHasIsNamed(CapturedOutput output) {
        String[] onSqlite = settings(
                "ratelimit.store.type=sqlite",
                "ratelimit.store.sqlite.path=" + folder.resolve("limits.db"),
                "ratelimit.api-keys.enabled=true",
                "ratelimit.rules.partner.limits=api",
                "ratelimit.rules.partner.api-keys=partner,*");
        try (RunningApplication first = RunningApplication.start(List.of(Application.class, Notes.class), onSqlite)) {
            assertThat(output).contains(LINE + "no active API key has the id or name partner of rule 'partner'\n");
            first.bean(RateLimitAdmin.class).keys().create(NewApiKey.of("partner", "alice"), Change.by("test"));
        }
        int before = output.getAll().length();

        RunningApplication.start(List.of(Application.class, Notes.class), onSqlite)
                .close();

        assertThat(output.getAll().substring(before)).doesNotContain(LINE);
    }

    @Test
    void rulesForApiKeysAreNamedIfNoneAreChecked(CapturedOutput output) {
        start(
                List.of(Application.class, Notes.class),
                "ratelimit.rules.partner.limits=api",
                "ratelimit.rules.partner.api-keys=partner");

        assertThat(output)
                .contains(LINE + "rule 'partner' is for API keys, which are not checked: write"
                        + " ratelimit.api-keys.enabled: true\n");
    }

    @Test
    void authoritiesAreNamedIfNobodyCanHaveAny(CapturedOutput output) throws Exception {
        List<Class<?>> ours = new ArrayList<>();
        for (String name : List.of(
                "RateLimitAutoConfiguration", "RateLimitPolicyAutoConfiguration", "RateLimitWebAutoConfiguration")) {
            ours.add(Class.forName("dev.ratelimit.autoconfigure." + name));
        }
        WebApplicationContextRunner application = new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ours.toArray(Class<?>[]::new)))
                .withPropertyValues(settings(
                        "ratelimit.limits.annotated.base=api",
                        "ratelimit.rules.api.limits=api,annotated",
                        "ratelimit.rules.api.path=/**",
                        "ratelimit.rules.api.authorities=ROLE_PARTNER",
                        "ratelimit.exempt.authorities=ROLE_ADMIN",
                        "ratelimit.tiers.authorities.ROLE_PREMIUM=premium"));
        application.run(context -> assertThat(output).doesNotContain(LINE));

        application
                .withClassLoader(new FilteredClassLoader(SecurityContextHolder.class))
                .run(context -> assertThat(output)
                        .contains(LINE + "rule 'api' is for ROLE_PARTNER, but nobody has authorities without Spring"
                                + " Security; ratelimit.exempt.authorities is ROLE_ADMIN, but nobody has"
                                + " authorities without Spring Security; ratelimit.tiers.authorities has ROLE_PREMIUM, but"
                                + " nobody has authorities without Spring Security\n"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnUsers {

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("alice")
                            .password("{noop}alice")
                            .roles("USER")
                            .build(),
                    User.withUsername("bob")
                            .password("{noop}bob")
                            .authorities("PARTNER")
                            .build());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherUsers {

        @Bean
        AuthenticationProvider directory() {
            return new TestingAuthenticationProvider();
        }
    }

    private static final String[] AUTHORITIES = {
        "ratelimit.rules.api.authorities=PARTNER,ROLE_ANONYMOUS,FACTOR_PASSWORD",
        "ratelimit.exempt.authorities=ADMIN",
        "ratelimit.tiers.authorities.ROLE_USER=premium"
    };

    @Test
    void authoritiesThatNoUserInMemoryHasAreNamed(CapturedOutput output) {
        start(
                List.of(SecureApplication.class, Notes.class),
                Stream.concat(Stream.of(AUTHORITIES), Stream.of("spring.security.user.roles=ADMIN,USER"))
                        .toArray(String[]::new));
        assertThat(output)
                .contains(LINE + "rule 'api' is for PARTNER, but your users have only ROLE_ADMIN, ROLE_USER;"
                        + " ratelimit.exempt.authorities is ADMIN, but your users have only ROLE_ADMIN, ROLE_USER\n");

        start(List.of(SecureApplication.class, Notes.class, OwnUsers.class), AUTHORITIES);
        assertThat(output)
                .contains(
                        LINE + "ratelimit.exempt.authorities is ADMIN, but your users have only PARTNER, ROLE_USER\n");
    }

    @Test
    void authoritiesOfUsersThatCannotBeKnownAreNotNamed(CapturedOutput output) {
        start(List.of(SecureApplication.class, Notes.class, OtherUsers.class), AUTHORITIES);
        start(List.of(SecureApplication.class, Notes.class, OwnUsers.class, OtherUsers.class), AUTHORITIES);

        assertThat(output).doesNotContain(LINE);
    }

    @Test
    void callerWithTheRoleInsteadOfTheAuthorityIsNamed(CapturedOutput output) throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(SecureApplication.class, Notes.class),
                settings(
                        "spring.security.user.name=mia",
                        "spring.security.user.password=mia",
                        "spring.security.user.roles=ADMIN",
                        "ratelimit.exempt.authorities=ADMIN"))) {
            assertThat(application.getAs("mia", "/api/notes/1").statusCode()).isEqualTo(200);
        }
        assertThat(output)
                .contains("A caller has the authority ROLE_ADMIN, but the settings of rate limits name ADMIN");
    }
}
