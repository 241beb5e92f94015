package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.caller.Accounts;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.startup.ConfigurationFailureAnalyzer;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;

/** A setting that can have no effect stops the start. */
class SettingsWithoutEffectTest {

    private static final String TIERS = "free, premium";

    private final WebApplicationContextRunner application = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RateLimitAutoConfiguration.class,
                    RateLimitPolicyAutoConfiguration.class,
                    RateLimitWebAutoConfiguration.class))
            .withPropertyValues(
                    "ratelimit.store.type=memory",
                    "ratelimit.limits.a.algorithm=fixed-window",
                    "ratelimit.limits.a.max-requests=1",
                    "ratelimit.limits.a.window=1m",
                    "ratelimit.rules.r.path=/a/**",
                    "ratelimit.rules.r.limits=a",
                    "ratelimit.tiers.authorities.ROLE_PREMIUM=premium");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.rules.r.tiers=premum | ratelimit.rules.r.tiers | 'premum'",
                "ratelimit.limits.a.tiers.premum.max-requests=5 | ratelimit.limits.a.tiers.premum.max-requests | '5'",
            },
            quoteCharacter = '\u0000')
    void tierThatNobodyCanHaveStopsTheStart(String setting, String property, String value) {
        application.withPropertyValues(setting).run(context -> {
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .isEqualTo(
                            "Invalid rate limit configuration:\n\n    Property: " + property + "\n    Value: " + value);
            assertThat(analysis.getAction())
                    .isEqualTo(
                            "Name one of the tiers that callers can have (" + TIERS + "), or give the tier 'premum' an"
                                    + " authority under ratelimit.tiers.authorities or a quota under ratelimit.tiers.quotas; if"
                                    + " users and API keys have it only in the database, add it to ratelimit.tiers.names.");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.tiers.names=gold",
        "ratelimit.tiers.default=gold",
        "ratelimit.tiers.authorities.ROLE_GOLD=gold",
        "ratelimit.tiers.quotas.gold.per-day=5"
    })
    void tierIsDeclaredInAnyOfFourPlaces(String declaration) {
        application
                .withPropertyValues(
                        "ratelimit.rules.r.tiers=gold", "ratelimit.limits.a.tiers.gold.max-requests=5", declaration)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void quotaThatNobodyHasStopsTheStart() {
        application.withPropertyValues("ratelimit.rules.r.limits=quota").run(context -> {
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription()).contains("ratelimit.rules.r.limits", "'quota'");
            assertThat(analysis.getAction())
                    .startsWith("Write a quota, such as ratelimit.tiers.quotas.free.per-day: 10000")
                    .contains("ratelimit.tiers.quotas.free.zone: UTC");
        });
    }

    @ParameterizedTest
    @CsvSource({"ratelimit.tiers.quotas.free.per-day=5", "ratelimit.tiers.quotas.free.zone=UTC"})
    void quotaIsDeclaredWithAndWithoutNumbers(String declaration) {
        application
                .withPropertyValues("ratelimit.rules.r.limits=quota", declaration)
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** Otherwise the tier would be for an authority that no caller has. */
    @Test
    void nameThatWouldLoseCharactersStopsTheStart() {
        withProperty("ratelimit.tiers.authorities.SCOPE_orders:read", "premium").run(context -> {
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .contains("Property: ratelimit.tiers.authorities.SCOPE_orders:read", "Value: 'premium'");
            assertThat(analysis.getAction())
                    .startsWith("Write the part with ':' in brackets and quotes, as in \"[SCOPE_orders:read]\"");
        });
        withProperty("ratelimit.tiers.authorities[SCOPE_orders:read]", "premium")
                .run(context -> assertThat(context.getBean(PolicyConfiguration.class)
                                .tiers()
                                .caller("alice", Set.of("SCOPE_orders:read"), null, Accounts.NONE)
                                .tier())
                        .isEqualTo("premium"));
    }

    private WebApplicationContextRunner withProperty(String name, String value) {
        return application.withInitializer(context -> context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("names", Map.of(name, value))));
    }
}
