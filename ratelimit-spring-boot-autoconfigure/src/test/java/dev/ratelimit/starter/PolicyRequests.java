package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charged;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.QuotaAdmin.UserQuota;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.web.servlet.CallerLimits;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Rules with actions, tiers, quotas, API keys, and changes while running, over real requests; on each database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PolicyRequests {

    private RunningApplication application;
    private RunningApplication other;
    private RateLimitAdmin admin;

    /** Where state is kept; both applications are given the same. */
    abstract List<String> store();

    /** How long the other instance may take to notice a change; much longer than promised, for slow machines. */
    private static final Duration SOON = Duration.ofSeconds(20);

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    user("free"),
                    user("paying", "PREMIUM"),
                    user("staff", "STAFF"),
                    user("upgraded"),
                    user("custom"),
                    user("blocked"),
                    user("counted"),
                    user("watcher"),
                    user("roaming"),
                    user("boss", "BOSS"),
                    user("owner"));
        }

        private static org.springframework.security.core.userdetails.UserDetails user(String name, String... roles) {
            return User.withUsername(name)
                    .password("{noop}" + name)
                    .authorities(
                            Arrays.stream(roles).map(role -> "ROLE_" + role).toArray(String[]::new))
                    .build();
        }

        @RestController
        static class Pages {

            private final CallerLimits limits;

            Pages(CallerLimits limits) {
                this.limits = limits;
            }

            @GetMapping("/remaining")
            Map<String, Object> remaining(HttpServletRequest request) {
                LimitDecision tightest = limits.peek(request, "GET", "/tiered").tightest();
                return Map.of(
                        "tier", limits.caller(request).tier(),
                        "remaining", tightest == null ? -1 : tightest.remaining(),
                        "closed", limits.peek(request, "GET", "/closed").outcome());
            }

            @GetMapping("/**")
            String page() {
                return "ok";
            }
        }
    }

    @BeforeAll
    void start() {
        application = application();
        other = application();
        admin = application.bean(RateLimitAdmin.class);
    }

    private RunningApplication application() {
        List<String> settings = new ArrayList<>(store());
        settings.addAll(List.of(
                "ratelimit.identity.trusted-proxies=127.0.0.1",
                "ratelimit.api-keys.enabled=true",
                "ratelimit.api-keys.guesses=3",
                "ratelimit.exempt.authorities=ROLE_BOSS",
                "ratelimit.tiers.authorities.ROLE_PREMIUM=premium",
                "ratelimit.tiers.names=enterprise",
                "ratelimit.tiers.quotas.free.per-hour=2",
                "ratelimit.tiers.quotas.premium.per-hour=4"));
        settings.addAll(limit("one", 1));
        settings.addAll(limit("two", 2));
        settings.addAll(limit("tiered", 2));
        settings.add("ratelimit.limits.tiered.tiers.premium.max-requests=4");
        settings.add("ratelimit.limits.tiered.tiers.enterprise.max-requests=6");
        settings.addAll(limit("rehearsed", 100));
        settings.add("ratelimit.limits.rehearsed.candidate.max-requests=1");
        settings.addAll(limit("live", 2));
        settings.addAll(limit("arrival", 1));
        settings.addAll(List.of(
                "ratelimit.rules.closed.path=/closed",
                "ratelimit.rules.closed.action=block",
                "ratelimit.rules.closed.response.status=451",
                "ratelimit.rules.closed.response.message=Not \"here\".",
                "ratelimit.rules.closed.response.retry-after=1h",
                "ratelimit.rules.shut.path=/shut",
                "ratelimit.rules.shut.addresses=203.0.113.0/24,2001:db8::/32",
                "ratelimit.rules.shut.action=block",
                "ratelimit.rules.inside.path=/inside",
                "ratelimit.rules.inside.priority=10",
                "ratelimit.rules.inside.addresses=198.51.100.0/24",
                "ratelimit.rules.inside.action=allow",
                "ratelimit.rules.all.path=/inside",
                "ratelimit.rules.all.key=ip",
                "ratelimit.rules.all.limits=one",
                "ratelimit.rules.staff.path=/flood",
                "ratelimit.rules.staff.priority=10",
                "ratelimit.rules.staff.authorities=ROLE_STAFF",
                "ratelimit.rules.staff.action=allow",
                "ratelimit.rules.flood.path=/flood",
                "ratelimit.rules.flood.key=ip",
                "ratelimit.rules.flood.limits=one",
                "ratelimit.rules.trial.path=/trial",
                "ratelimit.rules.trial.key=ip",
                "ratelimit.rules.trial.action=shadow",
                "ratelimit.rules.trial.limits=one",
                "ratelimit.rules.rehearsal.path=/rehearsal",
                "ratelimit.rules.rehearsal.key=ip",
                "ratelimit.rules.rehearsal.limits=rehearsed",
                "ratelimit.rules.beta.path=/beta",
                "ratelimit.rules.beta.key=ip",
                "ratelimit.rules.beta.condition=#request.getHeader('X-Beta') != null",
                "ratelimit.rules.beta.limits=one",
                "ratelimit.rules.slow.path=/slow",
                "ratelimit.rules.slow.key=ip",
                "ratelimit.rules.slow.limits=one",
                "ratelimit.rules.slow.response.status=503",
                "ratelimit.rules.slow.response.message=Come back tomorrow.",
                "ratelimit.rules.slow.response.retry-after=1d",
                "ratelimit.rules.tiered.path=/tiered",
                "ratelimit.rules.tiered.limits=tiered",
                "ratelimit.rules.quota-by-ip.path=/quota-by-ip",
                "ratelimit.rules.quota-by-ip.key=ip",
                "ratelimit.rules.quota-by-ip.limits=quota",
                "ratelimit.rules.quota.path=/quota",
                "ratelimit.rules.quota.limits=quota",
                "ratelimit.rules.ci.path=/ci",
                "ratelimit.rules.ci.api-keys=ci",
                "ratelimit.rules.ci.key=api-key",
                "ratelimit.rules.ci.limits=two",
                "ratelimit.rules.live.path=/live",
                "ratelimit.rules.live.key=ip",
                "ratelimit.rules.live.limits=live"));
        return RunningApplication.start(
                List.of(Application.class, Application.Pages.class), settings.toArray(String[]::new));
    }

    private static List<String> limit(String name, int maxRequests) {
        String prefix = "ratelimit.limits." + name + ".";
        return List.of(
                prefix + "algorithm=fixed-window", prefix + "max-requests=" + maxRequests, prefix + "window=day");
    }

    @AfterAll
    void stop() {
        other.close();
        application.close();
    }

    @Test
    void ruleThatBlocksAnswersAsItSays() throws Exception {
        HttpResponse<String> response = application.get("/closed");

        assertThat(response.statusCode()).isEqualTo(451);
        assertThat(response.headers().firstValue("Retry-After")).contains("3600");
        assertThat(response.headers().firstValue("Cache-Control")).contains("no-store");
        assertThat(response.body())
                .contains("\"type\":\"about:blank\"", "\"status\":451", "\"detail\":\"Not \\\"here\\\".\"")
                .contains("\"error\":\"Blocked\"", "\"retry_after\":3600");
    }

    @Test
    void rulesApplyToRangesOfAddresses() throws Exception {
        assertThat(statusFrom("203.0.113.9", "/shut")).isEqualTo(403);
        assertThat(statusFrom("2001:db8::9", "/shut")).isEqualTo(403);
        assertThat(statusFrom("203.0.114.9", "/shut")).isEqualTo(200);
        assertThat(statusFrom("2001:db9::9", "/shut")).isEqualTo(200);
    }

    @Test
    void ruleThatAllowsEndsTheMatching() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertThat(statusFrom("198.51.100.1", "/inside")).isEqualTo(200);
        }
        assertThat(statusFrom("192.0.2.1", "/inside")).isEqualTo(200);
        assertThat(statusFrom("192.0.2.1", "/inside")).isEqualTo(429);
    }

    @Test
    void ruleThatMayBeEndedByAuthenticationWaitsForIt() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertThat(application.getAs("staff", "/flood").statusCode()).isEqualTo(200);
        }
        assertThat(application.getAs("free", "/flood").statusCode()).isEqualTo(200);
        assertThat(application.getAs("free", "/flood").statusCode()).isEqualTo(429);
    }

    @Test
    void ruleInShadowReportsAndDeniesNobody() throws Exception {
        for (int i = 0; i < 3; i++) {
            HttpResponse<String> response = application.get("/trial");
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("RateLimit")).isEmpty();
        }

        await().untilAsserted(() -> {
            assertThat(counted("one:shadow", "trial", "would_allow")).isEqualTo(1);
            assertThat(counted("one:shadow", "trial", "would_deny")).isEqualTo(2);
        });
    }

    @Test
    void candidateReportsAndDeniesNobody() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertThat(application.get("/rehearsal").statusCode()).isEqualTo(200);
        }

        await().untilAsserted(() -> {
            assertThat(counted("rehearsed:candidate", "rehearsal", "would_deny"))
                    .isEqualTo(2);
            assertThat(counted("rehearsed", "rehearsal", "allowed")).isEqualTo(3);
        });
    }

    private double counted(String limit, String rule, String outcome) {
        Counter counter = application
                .bean(MeterRegistry.class)
                .find("ratelimit.requests")
                .tags("limit", limit, "rule", rule, "outcome", outcome)
                .counter();
        return counter == null ? 0 : counter.count();
    }

    @Test
    void conditionOfTheConfigurationIsAsked() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertThat(beta()).isEqualTo(200);
        }
        assertThat(beta("X-Beta", "1")).isEqualTo(200);
        assertThat(beta("X-Beta", "1")).isEqualTo(429);
    }

    private int beta(String... headers) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(headers));
        all.addAll(List.of("X-Forwarded-For", "192.0.2.20"));
        return application.get("/beta", all.toArray(String[]::new)).statusCode();
    }

    @Test
    void ruleMayAnswerDenialsInItsOwnWay() throws Exception {
        assertThat(statusFrom("192.0.2.30", "/slow")).isEqualTo(200);

        HttpResponse<String> response = application.get("/slow", "X-Forwarded-For", "192.0.2.30");
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.headers().firstValueAsLong("Retry-After").orElse(0)).isEqualTo(86_400);
        assertThat(response.body()).contains("\"detail\":\"Come back tomorrow.\"", "\"retry_after\":86400");
    }

    @Test
    void tierComesFromAnAuthorityOrTheAccountOrTheKey() throws Exception {
        IssuedKey enterprise = admin.keys().create(NewApiKey.of("tier", "owner").tier("enterprise"), Change.by("test"));
        admin.quotas().set("upgraded", "premium", Quota.NONE, Change.by("test"));

        assertThat(admitted(() -> application.getAs("free", "/tiered"))).isEqualTo(2);
        assertThat(admitted(() -> application.getAs("paying", "/tiered"))).isEqualTo(4);
        assertThat(admitted(() -> application.getAs("upgraded", "/tiered"))).isEqualTo(4);
        assertThat(admitted(() -> application.get("/tiered", "X-API-Key", enterprise.secret())))
                .isEqualTo(6);
    }

    @Test
    void quotaIsThatOfTheUserElseOfTheTierAndUsageCanBeRead() throws Exception {
        admin.quotas().set("custom", null, new Quota(null, 3L, null, null, null, null), Change.by("test"));

        assertThat(admitted(() -> application.getAs("free", "/quota"))).isEqualTo(2);
        assertThat(admitted(() -> application.getAs("paying", "/quota"))).isEqualTo(4);
        assertThat(admitted(() -> application.getAs("custom", "/quota"))).isEqualTo(3);

        assertThat(admin.quotas().usage("custom").today()).isEqualTo(3);
        assertThat(admin.quotas().usage("custom").thisMonth()).isEqualTo(3);
        await().untilAsserted(() -> {
            UserQuota stored = admin.quotas().find("custom").orElseThrow();
            assertThat(stored.exceededCount()).isEqualTo(5);
            assertThat(stored.lastRequestAt()).isAfter(stored.createdAt());
        });
        admin.quotas().set("custom", null, new Quota(null, 3L, 1L, null, null, null), Change.by("test"));
        assertThat(admin.quotas().usage("custom").today())
                .as("used before the quota was lowered")
                .isEqualTo(3);
        admin.quotas().set("custom", null, new Quota(null, 3L, null, null, null, null), Change.by("test"));
        HttpResponse<String> response = application.getAs("custom", "/quota");
        assertThat(response.headers().firstValue("RateLimit-Policy")).contains("\"quota:hour\";q=3;w=3600");
    }

    @Test
    void tierThatNothingSpeaksOfIsRefused() {
        assertThatThrownBy(() -> admin.quotas().set("free", "premuim", Quota.NONE, Change.by("test")))
                .hasMessage("the tier is 'premuim', which no quota, limit, rule or authority mentions;"
                        + " write one of enterprise, free, premium");
        assertThatThrownBy(() -> admin.keys().create(NewApiKey.of("x", "free").tier(""), Change.by("test")))
                .hasMessageStartingWith("the tier is ''");
    }

    @Test
    void keyWithItsOwnNumbersIsCountedByItself() throws Exception {
        IssuedKey key = admin.keys()
                .create(
                        NewApiKey.of("own", "counted").quota(new Quota(null, 5L, null, null, null, null)),
                        Change.by("test"));

        assertThat(admitted(() -> application.get("/quota", "X-API-Key", key.secret())))
                .isEqualTo(5);
        assertThat(admitted(() -> application.getAs("counted", "/quota"))).isEqualTo(2);
        assertThat(admin.keys().usage(key.id()).today()).isEqualTo(5);
    }

    @Test
    void blockedUserIsDeniedUntilUnblocked() throws Exception {
        admin.quotas()
                .block(
                        "blocked",
                        Change.by("test")
                                .until(Instant.now().plus(Duration.ofHours(1)))
                                .because("chargeback"));

        HttpResponse<String> response = application.getAs("blocked", "/anything");
        assertThat(response.statusCode()).isEqualTo(403);
        assertThat(response.headers().firstValueAsLong("Retry-After").orElse(0)).isBetween(3_000L, 3_600L);
        assertThat(response.body()).doesNotContain("chargeback");
        assertThat(application.getAs("free", "/anything").statusCode()).isEqualTo(200);

        admin.quotas().block("blocked", Change.by("test").because("fraud"));
        HttpResponse<String> withoutEnd = application.getAs("blocked", "/anything");
        assertThat(withoutEnd.statusCode()).isEqualTo(403);
        assertThat(withoutEnd.headers().firstValue("Retry-After")).isEmpty();

        admin.quotas().unblock("blocked", Change.by("test"));
        assertThat(application.getAs("blocked", "/anything").statusCode()).isEqualTo(200);
    }

    @Test
    void unknownExpiredAndRevokedKeysAreRefusedAndGuessingIsLimited() throws Exception {
        IssuedKey key = admin.keys().create(NewApiKey.of("soon revoked", "owner"), Change.by("test"));
        assertThat(withKey("192.0.2.50", key.secret()).statusCode()).isEqualTo(200);
        admin.keys().revoke(key.id(), Change.by("test"));

        HttpResponse<String> revoked = withKey("192.0.2.50", key.secret());
        assertThat(revoked.statusCode()).isEqualTo(401);
        assertThat(revoked.headers().firstValue("WWW-Authenticate")).contains("ApiKey header=\"X-API-Key\"");
        assertThat(revoked.body()).contains("\"error\":\"Unknown API key\"");

        IssuedKey valid = admin.keys().create(NewApiKey.of("valid", "owner"), Change.by("test"));
        for (int i = 0; i < 2; i++) {
            assertThat(withKey("192.0.2.50", "rl_guess").statusCode()).isEqualTo(401);
        }
        assertThat(withKey("192.0.2.50", "rl_guess").statusCode()).isEqualTo(429);
        assertThat(withKey("192.0.2.50", valid.secret()).statusCode())
                .as("a right key among too many guesses is not told from a wrong one")
                .isEqualTo(429);
        assertThat(withKey("192.0.2.51", valid.secret()).statusCode()).isEqualTo(200);
    }

    private HttpResponse<String> withKey(String address, String key) throws IOException, InterruptedException {
        return application.get("/anything", "X-Forwarded-For", address, "X-API-Key", key);
    }

    @Test
    void bearerTokensAreTheApplicationsUnlessItSaysOtherwise() throws Exception {
        assertThat(application.get("/anything", "Authorization", "Bearer abc").statusCode())
                .isEqualTo(200);
    }

    @Test
    void rulesApplyToKeysByName() throws Exception {
        IssuedKey ci = admin.keys().create(NewApiKey.of("ci", "owner"), Change.by("test"));
        IssuedKey another = admin.keys().create(NewApiKey.of("cd", "owner"), Change.by("test"));

        assertThat(admitted(() -> application.get("/ci", "X-API-Key", ci.secret())))
                .isEqualTo(2);
        assertThat(admitted(() -> application.get("/ci", "X-API-Key", another.secret())))
                .isEqualTo(8);
    }

    @Test
    void raisedLimitHelpsAtOnceAndALoweredOneHoldsAtOnceOnBothInstances() throws Exception {
        assertThat(admitted(() -> application.get("/live"))).isEqualTo(2);

        admin.limits().set("live", fixedWindow(5), Change.by("ops").because("launch day"));
        assertThat(admitted(() -> application.get("/live"))).isEqualTo(3);

        admin.limits().set("live", fixedWindow(7), Change.by("ops"));
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(other.get("/live").statusCode()).isEqualTo(200));
        admin.limits().set("live", fixedWindow(1), Change.by("ops"));
        assertThat(application.get("/live").statusCode()).isEqualTo(429);
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(limitOf(other.get("/live"))).isEqualTo("1"));

        admin.limits().rollback("live", 2, Change.by("ops"));
        assertThat(limitOf(application.get("/live"))).isEqualTo("7");
        admin.limits().remove("live", Change.by("ops"));
        assertThat(limitOf(application.get("/live"))).isEqualTo("2");
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(limitOf(other.get("/live"))).isEqualTo("2"));
        assertThat(admin.limits().history("live")).hasSize(5);
    }

    @Test
    void administratorsWhoChangeThingsAtOnceLeaveConnectionsForEachOther() throws Exception {
        ExecutorService administrators = Executors.newFixedThreadPool(6);
        try {
            List<Future<?>> changes = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                String user = "crowd" + i;
                changes.add(administrators.submit(
                        () -> admin.quotas().set(user, "premium", Quota.NONE, Change.by("test"))));
            }
            for (Future<?> change : changes) {
                change.get(); // fails if the change did
            }
        } finally {
            administrators.shutdownNow();
        }
        assertThat(admin.quotas().list())
                .filteredOn(quota -> quota.account().user().startsWith("crowd"))
                .hasSize(30);
    }

    private static Map<String, String> fixedWindow(int maxRequests) {
        return Map.of("algorithm", "fixed-window", "max-requests", String.valueOf(maxRequests), "window", "day");
    }

    private static @Nullable String limitOf(HttpResponse<String> response) {
        return response.headers().firstValue("X-RateLimit-Limit").orElse(null);
    }

    @Test
    void ruleThatIsSetWhileRunningAppliesOnBothInstances() throws Exception {
        admin.rules()
                .set(
                        Rule.named("stored")
                                .path("/stored/**")
                                .action(Action.BLOCK)
                                .build(),
                        Change.by("ops"));
        assertThat(application.get("/stored/x").statusCode()).isEqualTo(403);
        await().atMost(SOON)
                .untilAsserted(
                        () -> assertThat(other.get("/stored/x").statusCode()).isEqualTo(403));

        admin.rules().remove("stored", Change.by("ops"));
        assertThat(application.get("/stored/x").statusCode()).isEqualTo(200);
        await().atMost(SOON)
                .untilAsserted(
                        () -> assertThat(other.get("/stored/x").statusCode()).isEqualTo(200));
    }

    /** The other instance only decides: it never made a charge on that limit that it might give back. */
    @Test
    void denialIsNotRepeatedForLongWhereARuleSetWhileRunningMayGiveChargesBack() {
        admin.rules()
                .set(
                        Rule.named("arrival")
                                .path("/arrival")
                                .key("ip")
                                .limits("arrival")
                                .build(),
                        Change.by("ops"));
        await().atMost(SOON).until(() -> other.bean(Limits.class).mayBeGivenBack("arrival"));
        LimitRequest request = LimitRequest.of(Subject.ip("198.51.100.77"), "arrival");
        Charged elsewhere = application.bean(RateLimiter.class).charge(request);
        RateLimiter limiter = other.bean(RateLimiter.class);
        assertThat(limiter.decide(request).allowed()).isFalse();

        assertThat(elsewhere.giveBack()).isTrue();

        await().atMost(SOON)
                .untilAsserted(
                        () -> assertThat(limiter.decide(request).allowed()).isTrue());
    }

    @Test
    void callerIsToldWhatRemainsAndItCostsNothing() throws Exception {
        assertThat(application.getAs("watcher", "/remaining").body()).contains("\"remaining\":2", "\"tier\":\"free\"");
        assertThat(application.getAs("watcher", "/remaining").body()).contains("\"remaining\":2");
        assertThat(application.getAs("watcher", "/remaining").body()).contains("\"closed\":\"BLOCKED\"");
        assertThat(application.getAs("boss", "/remaining").body()).contains("\"remaining\":-1");
        application.getAs("watcher", "/tiered");
        assertThat(application.getAs("watcher", "/remaining").body()).contains("\"remaining\":1");
    }

    @Test
    void explanationAgreesWithWhatHappens() throws Exception {
        assertThat(admin.explain(Inquiry.of("GET", "/shut").from("203.0.113.9")).applying())
                .extracting(of -> of.rule().name())
                .containsExactly("shut");
        assertThat(admin.explain(Inquiry.of("GET", "/shut").from("192.0.2.9")).rules())
                .filteredOn(of -> of.rule().name().equals("shut"))
                .singleElement()
                .satisfies(of -> assertThat(of.why()).contains("192.0.2.9", "203.0.113.0/24"));
    }

    @Test
    void explanationKnowsExemptionsAndReadsPathsAsTheFilterDoes() {
        assertThat(admin.explain(Inquiry.of("GET", "/tiered").user("boss").authorities("ROLE_BOSS"))
                        .exempt())
                .isTrue();
        assertThat(admin.explain(Inquiry.of("GET", "/tiered").user("free")).exempt())
                .isFalse();
        assertThat(admin.explain(Inquiry.of("GET", "/closed/")).applying())
                .extracting(of -> of.rule().name())
                .containsExactly("closed");
    }

    @Test
    void quotaIsTheCallersWhateverItsRuleCountsBy() throws Exception {
        int admitted = 0;
        for (int i = 0; i < 6; i++) {
            String address = "192.0.2." + (100 + i);
            HttpResponse<String> response =
                    application.get("/quota-by-ip", "X-Forwarded-For", address, "Authorization", basic("roaming"));
            admitted += response.statusCode() == 200 ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(2);
        assertThat(admin.quotas().usage("roaming").today()).isEqualTo(2);
    }

    private static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":" + user).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void keyOfABlockedOwnerIsDeniedWhoeverElseIsLoggedIn() throws Exception {
        IssuedKey key = admin.keys().create(NewApiKey.of("of the blocked", "blockedOwner"), Change.by("test"));
        admin.quotas()
                .block(
                        "blockedOwner",
                        Change.by("test")
                                .until(Instant.now().plus(Duration.ofHours(1)))
                                .because("fraud"));

        assertThat(application
                        .send(
                                "/anything",
                                request -> request.header("X-API-Key", key.secret())
                                        .header("Authorization", basic("free")))
                        .statusCode())
                .isEqualTo(403);
    }

    private interface Exchange {
        HttpResponse<String> send() throws IOException, InterruptedException;
    }

    /** How many of eight requests pass. */
    private static long admitted(Exchange exchange) throws Exception {
        int admitted = 0;
        for (int i = 0; i < 8; i++) {
            int status = exchange.send().statusCode();
            assertThat(status).isIn(200, 429);
            admitted += status == 200 ? 1 : 0;
        }
        return admitted;
    }

    private int statusFrom(String address, String path) throws IOException, InterruptedException {
        return application.get(path, "X-Forwarded-For", address).statusCode();
    }
}
