package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.InForce;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.startup.ConfigurationFailureAnalyzer;
import dev.ratelimit.startup.StoreFailureAnalyzer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.web.servlet.CallerLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@ExtendWith(OutputCaptureExtension.class)
class RateLimitAutoConfigurationTest {

    private static final AutoConfigurations OURS = AutoConfigurations.of(
            RateLimitAutoConfiguration.class,
            RateLimitPolicyAutoConfiguration.class,
            RateLimitMetricsAutoConfiguration.class,
            RateLimitUnsupportedAutoConfiguration.class,
            RateLimitWebAutoConfiguration.class,
            RateLimitedAutoConfiguration.class);

    @TempDir
    Path folder;

    private final ApplicationContextRunner application = new ApplicationContextRunner().withConfiguration(OURS);
    private final WebApplicationContextRunner web =
            new WebApplicationContextRunner().withConfiguration(OURS).withPropertyValues("ratelimit.store.type=memory");

    @Test
    void withoutADatabaseItKeepsStateInAnSqliteFile() {
        Path file = folder.resolve("limits.db");
        application
                .withPropertyValues(
                        "ratelimit.store.sqlite.path=" + file,
                        "ratelimit.limits.login.algorithm=fixed-window",
                        "ratelimit.limits.login.max-requests=1",
                        "ratelimit.limits.login.window=day")
                .run(context -> {
                    assertThat(context).hasSingleBean(SqliteLimitStore.class);
                    RateLimiter limiter = context.getBean(RateLimiter.class);
                    assertThat(limiter.decide(Subject.user("alice"), "login").allowed())
                            .isTrue();
                    assertThat(limiter.decide(Subject.user("alice"), "login").allowed())
                            .isFalse();
                    assertThat(Files.exists(file)).isTrue();
                });
    }

    @Test
    void noBeanOfOursIsOfATypeThatApplicationsHave() {
        application
                .withPropertyValues("ratelimit.store.sqlite.path=" + folder.resolve("limits.db"))
                .run(context -> {
                    assertThat(context).doesNotHaveBean(DataSource.class);
                    assertThat(context).doesNotHaveBean(Flyway.class);
                });
    }

    /** An application that injects our beans starts, and needs no database. */
    @Test
    void beansAllowEverythingWhenItIsSwitchedOff() {
        web.withPropertyValues(
                        "ratelimit.enabled=false",
                        "ratelimit.store.type=postgresql",
                        "ratelimit.store.postgresql.url=jdbc:postgresql://127.0.0.1:1/nowhere",
                        "ratelimit.api-keys.enabled=true",
                        "ratelimit.limits.one.algorithm=fixed-window",
                        "ratelimit.limits.one.max-requests=1",
                        "ratelimit.limits.one.window=1d")
                .run(context -> {
                    RateLimiter limiter = context.getBean(RateLimiter.class);
                    for (int i = 0; i < 5; i++) {
                        Decision decision = limiter.decide(Subject.user("alice"), "one");
                        assertThat(decision.allowed()).isTrue();
                        assertThat(decision.limits()).isEmpty();
                    }
                    assertThat(limiter.reserve(Subject.user("alice"), "one").refund())
                            .isTrue();
                    assertThat(limiter.peek(Subject.user("alice"), "one").allowed())
                            .isTrue();
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    assertThat(admin.isEnabled()).isFalse();
                    assertThat(admin.limits().list()).extracting(InForce::name).containsExactly("one");
                    assertThatThrownBy(() -> admin.enable(Change.by("test")))
                            .hasMessageContaining("set ratelimit.enabled to true");
                    assertThat(context).hasSingleBean(Policies.class).hasSingleBean(CallerLimits.class);
                });
    }

    record Tools(RateLimitAdmin admin) {}

    @Configuration(proxyBeanMethods = false)
    static class OwnStore {

        @Bean
        LimitStore store() {
            return new MemoryLimitStore();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.store.type=memory, , set ratelimit.policy.store to sqlite or postgresql",
        "ratelimit.changes.enabled=false, , set ratelimit.changes.enabled to true",
        "ratelimit.store.deadline=10s, true, set ratelimit.policy.store to sqlite or postgresql"
    })
    void injectedAdminShowsTheConfigurationWhereNothingIsStored(
            String setting, @Nullable Boolean ownStore, String remedy, CapturedOutput output) {
        new WebApplicationContextRunner()
                .withConfiguration(OURS)
                .withBean(Tools.class)
                .withUserConfiguration(
                        Boolean.TRUE.equals(ownStore) ? new Class<?>[] {OwnStore.class} : new Class<?>[0])
                .withPropertyValues(
                        "ratelimit.store.sqlite.path=" + folder.resolve("limits.db"),
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.one.algorithm=fixed-window",
                        "ratelimit.limits.one.max-requests=3",
                        "ratelimit.limits.one.window=3660d",
                        "ratelimit.rules.all.limits=one",
                        setting)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    RateLimitAdmin admin = context.getBean(Tools.class).admin();
                    assertThat(admin.limits().list()).extracting(InForce::name).containsExactly("one");
                    assertThat(admin.explain(Inquiry.of("GET", "/").user("alice"))
                                    .outcome())
                            .isEqualTo(Outcome.ALLOWED);
                    RateLimiter limiter = context.getBean(RateLimiter.class);
                    limiter.decide(Subject.user("alice"), "one");
                    assertThat(limiter.peek(Subject.user("alice"), "one").remaining())
                            .isEqualTo(2);

                    assertThat(admin.reset(
                                    Subject.user("alice"),
                                    "one",
                                    Change.by("ops").because("a mistake")))
                            .isTrue();

                    assertThat(limiter.peek(Subject.user("alice"), "one").remaining())
                            .isEqualTo(3);
                    assertThat(output).contains("Reset limit one for user:alice, by ops (reason: a mistake)");
                    assertThatThrownBy(() -> admin.disable(Change.by("ops")))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining(remedy);
                });
    }

    @Test
    void reactiveApplicationStopsInsteadOfPassingRequestsUnseen() {
        ReactiveWebApplicationContextRunner reactive = new ReactiveWebApplicationContextRunner()
                .withConfiguration(OURS)
                .withPropertyValues("ratelimit.store.type=memory");
        reactive.run(context -> {
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .contains("Property: spring.main.web-application-type")
                    .contains("Value: 'reactive'");
            assertThat(analysis.getAction())
                    .startsWith("Use Spring MVC (spring-boot-starter-webmvc) instead of WebFlux")
                    .contains("ratelimit.enabled: false");
        });
        reactive.withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** As with Jersey: neither the filters nor the answer of an annotation would exist. */
    @Test
    void servletApplicationWithoutSpringMvcStops() {
        WebApplicationContextRunner servlets =
                web.withClassLoader(new FilteredClassLoader("org.springframework.web.servlet"));
        servlets.run(context -> {
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription()).contains("Value: 'servlet'");
            assertThat(analysis.getAction())
                    .startsWith("Add spring-boot-starter-webmvc")
                    .contains("ratelimit.enabled: false");
        });
        servlets.withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void beansOfTheApplicationReplaceOurs() {
        web.withUserConfiguration(OwnBeans.class).run(context -> {
            assertThat(context).hasSingleBean(LimitStore.class);
            assertThat(context.getBean(LimitStore.class)).isSameAs(OwnBeans.STORE);
            assertThat(context.getBean(Limits.class).names()).containsExactly("own");
            Decision decision = context.getBean(RateLimiter.class).decide(Subject.user("alice"), "own");
            assertThat(decision.remaining()).isEqualTo(6);
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnBeans {

        static final LimitStore STORE = new MemoryLimitStore();

        @Bean
        LimitStore store() {
            return STORE;
        }

        @Bean
        Limits limits() {
            return Limits.of(Limit.named("own")
                    .algorithm(new FixedWindow(7, Duration.ofDays(1)))
                    .build());
        }
    }

    @Test
    void limitInheritsFromItsBase() {
        application
                .withPropertyValues(
                        "ratelimit.store.type=memory",
                        "ratelimit.limits.base.algorithm=token-bucket",
                        "ratelimit.limits.base.burst=5",
                        "ratelimit.limits.base.refill=60/m",
                        "ratelimit.limits.big.base=base",
                        "ratelimit.limits.big.burst=50",
                        "ratelimit.limits.big.penalties[0].after=3",
                        "ratelimit.limits.big.penalties[0].block=5m")
                .run(context -> {
                    Limit big = context.getBean(Limits.class).get("big");
                    assertThat(big.capacity()).isEqualTo(50);
                    assertThat(big.algorithm().name()).isEqualTo("token-bucket");
                    assertThat(big.penalties().blockFor(3)).isEqualTo(Duration.ofMinutes(5));
                });
    }

    @Test
    void rulesAreAListOrAMap() {
        web.withPropertyValues(
                        "ratelimit.limits.l.algorithm=fixed-window",
                        "ratelimit.limits.l.max-requests=1",
                        "ratelimit.limits.l.window=1m",
                        "ratelimit.rules[0].name=from-list",
                        "ratelimit.rules[0].path=/a/**",
                        "ratelimit.rules[0].limits=l")
                .run(context -> assertThat(context.getBean(Policies.class)
                                .current()
                                .rules()
                                .rules())
                        .extracting(rule -> rule.name())
                        .containsExactly("from-list"));
        web.withPropertyValues(
                        "ratelimit.limits.l.algorithm=fixed-window",
                        "ratelimit.limits.l.max-requests=1",
                        "ratelimit.limits.l.window=1m",
                        "ratelimit.rules.from-map.path=/a/**",
                        "ratelimit.rules.from-map.limits=l")
                .run(context -> assertThat(context.getBean(Policies.class)
                                .current()
                                .rules()
                                .rules())
                        .extracting(rule -> rule.name())
                        .containsExactly("from-map"));
    }

    @Test
    void requestWaitsForADecisionNoLongerThan100MillisecondsByDefault() {
        web.run(context -> assertThat(
                        context.getBean(RateLimitProperties.class).store().deadline())
                .isEqualTo(Duration.ofMillis(100)));
    }

    @Test
    void propertyThatDoesNotExistStopsTheStart() {
        web.withPropertyValues("ratelimit.store.sqlite.file=x.db").run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("ratelimit.store.sqlite.file");
        });
    }

    @Test
    void mistakeIsSaidWhereAnApplicationFailsToStart(CapturedOutput output) {
        SpringApplication spring = new SpringApplication(RateLimitAutoConfiguration.class);
        spring.setWebApplicationType(WebApplicationType.NONE);

        assertThatThrownBy(() -> spring.run("--ratelimit.store.type=memory", "--ratelimit.upkeep.keep=-1s"))
                .isInstanceOf(RuntimeException.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START", "Property: ratelimit.upkeep.keep", "Write a time of at most");
    }

    @Test
    void profileOverridesOneLimitAndOneRuleAndLeavesTheOthers() {
        WebApplicationContextRunner profiles = web.withInitializer(new ConfigDataApplicationContextInitializer())
                .withPropertyValues("spring.config.location=classpath:profiles/");
        profiles.run(context -> {
            Limits limits = context.getBean(Limits.class);
            assertThat(limits.get("api").capacity()).isEqualTo(100);
            assertThat(limits.get("login").capacity()).isEqualTo(5);
            assertThat(keys(context)).containsExactlyInAnyOrder("api by user", "login by ip");
        });
        profiles.withPropertyValues("spring.profiles.active=strict").run(context -> {
            Limits limits = context.getBean(Limits.class);
            assertThat(limits.get("api"))
                    .isEqualTo(Limit.named("api")
                            .algorithm(new SlidingWindow(10, Duration.ofMinutes(1)))
                            .penalty(1, Duration.ofMinutes(1))
                            .build());
            assertThat(limits.get("login").capacity()).isEqualTo(5);
            assertThat(keys(context)).containsExactlyInAnyOrder("api by user+ip", "login by ip");
            assertThat(context.getBean(Policies.class).current().rules().rules())
                    .filteredOn(rule -> rule.name().equals("api"))
                    .singleElement()
                    .satisfies(rule -> {
                        assertThat(rule.conditions().path()).isEqualTo("/api/**");
                        assertThat(rule.limits()).containsExactly("api");
                    });
        });
    }

    private static List<String> keys(ApplicationContext context) {
        return context.getBean(Policies.class).current().rules().rules().stream()
                .map(rule -> rule.name() + " by " + rule.key())
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.limits.a.max-requests=0 | ratelimit.limits.a.max-requests | 0 |"
                        + " Write a whole number from 1 to 1000000000000.",
                "ratelimit.limits.a.window=soon | ratelimit.limits.a.window | 'soon' |"
                        + " Write a time such as 1m, or hour, day, week or month.",
                "ratelimit.limits.a.burst=3 | ratelimit.limits.a.burst | '3' |"
                        + " Leave it out: fixed-window takes algorithm, cost, forget-after, lease, max-requests, min-interval,"
                        + " penalties, retry-after, window, zone.",
                "ratelimit.limits.a.base=b | ratelimit.limits.a.base | 'b' | Define a limit of that name, or leave it out.",
                "ratelimit.limits.a.base=a | ratelimit.limits.a.base | 'a' |"
                        + " Name a limit that is not based on this one (a -> a).",
                "ratelimit.limits.a.window=99999999999d | ratelimit.limits.a.window | '99999999999d' |"
                        + " Write a time in whole microseconds of at most 3660d, such as 1m.",
                "ratelimit.limits.quota.base=a | ratelimit.limits.quota | 'quota' |"
                        + " Choose another name: this one is the caller's quota.",
                "ratelimit.rules.r.key=header:X Y | ratelimit.rules.r.key | 'header:X Y' |"
                        + " Write user, ip, user+ip, session, api-key, header:NAME, bean:NAME, or an expression that"
                        + " begins with # or @, such as #request.getParameter('tenant').",
                "ratelimit.rules.r.limits=b | ratelimit.rules.r.limits | 'b' | Name one of a.",
                "ratelimit.rules[0].limits=b | ratelimit.rules[0].limits | 'b' | Name one of a.",
                "ratelimit.rules.r.path=api | ratelimit.rules.r.path | 'api' | Begin it with /, as in /api/**.",
                "ratelimit.rules.r.key=phone | ratelimit.rules.r.key | 'phone' |"
                        + " Write user, ip, user+ip, session, api-key, header:NAME, bean:NAME, or an expression that"
                        + " begins with # or @, such as #request.getParameter('tenant').",
                "ratelimit.rules.r.methods=GET,GTE | ratelimit.rules.r.methods | 'GTE' |"
                        + " Write methods of HTTP: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, QUERY, PROPFIND,"
                        + " PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK, REPORT, SEARCH.",
                "ratelimit.exempt.paths=/health,docs/** | ratelimit.exempt.paths | 'docs/**' |"
                        + " Begin it with /, as in /api/**.",
                "ratelimit.exempt.paths=/docs/{page | ratelimit.exempt.paths | '/docs/{page' |"
                        + " Write a path pattern such as /api/** (Expected close capture character after variable name }).",
                "ratelimit.exempt.addresses=10.0.0.1/8 | ratelimit.exempt.addresses | '10.0.0.1/8' |"
                        + " Write 10.0.0.0/8, without bits behind the prefix.",
                "ratelimit.identity.trusted-proxies=10.0.0.300 | ratelimit.identity.trusted-proxies | '10.0.0.300' |"
                        + " Write one such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7.",
                "ratelimit.identity.trusted-proxies=10.0.0.0/8,0.0.0.0/0 | ratelimit.identity.trusted-proxies |"
                        + " '0.0.0.0/0' | Write only the addresses of your proxies, such as 10.0.0.0/8: a client in this range"
                        + " could forge its address.",
                "ratelimit.identity.trusted-proxies=::/0 | ratelimit.identity.trusted-proxies | '::/0' |"
                        + " Write only the addresses of your proxies, such as 10.0.0.0/8: a client in this range could forge"
                        + " its address.",
                "ratelimit.identity.ipv6-prefix=0 | ratelimit.identity.ipv6-prefix | 0 | Write a number from 1 to 128.",
                "ratelimit.store.deadline=0s | ratelimit.store.deadline | '0s' |"
                        + " Write a time of at most 1h, such as 1s.",
                "ratelimit.grouping.max-waiting=-1 | ratelimit.grouping.max-waiting | -1 |"
                        + " Write a whole number from 1 to 10000000.",
                "ratelimit.upkeep.interval=0s | ratelimit.upkeep.interval | '0s' |"
                        + " Write a time from 1ms to 3660d, such as 10m.",
                "ratelimit.store.type=postgresql | ratelimit.store.postgresql.url | missing |"
                        + " Write the JDBC URL of the database, such as jdbc:postgresql://localhost/app:"
                        + " the application has no DataSource.",
                "ratelimit.store.postgresql.username=limiter | ratelimit.store.postgresql.username | 'limiter' |"
                        + " Set ratelimit.store.postgresql.url, too, or leave this out:"
                        + " a DataSource of the application has its own user and password.",
                "ratelimit.store.postgresql.schema=My Schema | ratelimit.store.postgresql.schema | 'My Schema' |"
                        + " Write 1 to 63 letters, digits or '_', no digit first.",
                "ratelimit.store.postgresql.pool-size=0 | ratelimit.store.postgresql.pool-size | 0 |"
                        + " Write a whole number of at least 1.",
                "ratelimit.store.postgresql.password=SECRET | ratelimit.store.postgresql.password | '******' |"
                        + " Set ratelimit.store.postgresql.url, too, or leave this out:"
                        + " a DataSource of the application has its own user and password.",
            },
            quoteCharacter = '\u0000')
    void mistakeStopsTheStartAndSaysWhatToWriteInstead(String setting, String property, String value, String action) {
        assertThatStartFails(web, setting, property, value, action);
    }

    /** Where limits and rules are also read from the database, those of the configuration are looked at elsewhere. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.limits.a.max-requests=0 | ratelimit.limits.a.max-requests | 0 |"
                        + " Write a whole number from 1 to 1000000000000.",
                "ratelimit.limits.a.base=b | ratelimit.limits.a.base | 'b' | Define a limit of that name, or leave it out.",
                "ratelimit.rules.r.limits=b | ratelimit.rules.r.limits | 'b' | Name one of a.",
                "ratelimit.rules.r.path=api | ratelimit.rules.r.path | 'api' | Begin it with /, as in /api/**.",
                "ratelimit.changes.poll-interval=0s | ratelimit.changes.poll-interval | '0s' |"
                        + " Write a time from 1ms to 1d, such as 1s.",
            },
            quoteCharacter = '\u0000')
    void mistakeIsNamedTheSameWhereStateIsInADatabase(String setting, String property, String value, String action) {
        WebApplicationContextRunner onSqlite = web.withPropertyValues(
                "ratelimit.store.type=sqlite", "ratelimit.store.sqlite.path=" + folder.resolve("limits.db"));
        assertThatStartFails(onSqlite, setting, property, value, action);
    }

    private static void assertThatStartFails(
            WebApplicationContextRunner runner, String setting, String property, String value, String action) {
        runner.withPropertyValues(
                        "ratelimit.limits.a.algorithm=fixed-window",
                        "ratelimit.limits.a.max-requests=1",
                        "ratelimit.limits.a.window=1m",
                        "ratelimit.rules.r.path=/a/**",
                        "ratelimit.rules.r.limits=a",
                        setting)
                .run(context -> {
                    assertThat(context).hasFailed();
                    FailureAnalysis analysis =
                            new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .isEqualTo("Invalid rate limit configuration:\n\n    Property: " + property
                                    + "\n    Value: " + value);
                    assertThat(analysis.getAction()).isEqualTo(action);
                });
    }

    @Test
    void storeThatCannotBeOpenedStopsTheStartAndSaysWhereItIsLookedFor() {
        application
                .withPropertyValues("ratelimit.store.sqlite.path=" + folder.resolve("missing/limits.db"))
                .run(context -> {
                    FailureAnalysis analysis = new StoreFailureAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .startsWith("The rate limit store cannot be opened: the SQLite file ")
                            .contains("missing/limits.db")
                            .endsWith("choose a path in a folder that exists and that this process may write to");
                    assertThat(analysis.getAction()).contains("ratelimit.store.sqlite.path");
                });
        application
                .withPropertyValues(
                        "ratelimit.store.postgresql.url=jdbc:postgresql://127.0.0.1:1/none",
                        "ratelimit.store.postgresql.password=SECRET")
                .run(context -> {
                    FailureAnalysis analysis = new StoreFailureAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .contains("PostgreSQL cannot be reached", "127.0.0.1:1")
                            .doesNotContain("SECRET");
                });
    }
}
