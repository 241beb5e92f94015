package dev.ratelimit.autoconfigure.property;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.StringUtils;

/** A misspelt property or value of ours is reported with the spelling that was meant. */
@ExtendWith(OutputCaptureExtension.class)
class PropertyFailureAnalyzerTest {

    private static final String OF_A_LIMIT =
            "algorithm, base, burst, candidate, capacity, cost, drain, enabled, forget-after,"
                    + " lease, max-requests, max-wait, min-interval, penalties, refill, retry-after, tiers, window, zone";

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withPropertyValues("ratelimit.store.type=memory");

    @Test
    void misspeltPropertyIsReportedOnceWithItsFileAndLine(@TempDir Path folder, CapturedOutput output)
            throws Exception {
        Path file = Files.writeString(folder.resolve("application.yaml"), """
                ratelimit:
                  store.type: memory
                  limits:
                    api:
                      algorithm: sliding-window
                      max-request: 100
                      window: 1m
                """);

        start("--spring.config.location=" + file.toUri());

        assertThat(output)
                .contains(
                        "APPLICATION FAILED TO START",
                        "Property: ratelimit.limits.api.max-request\n    Value: '100'\n    Origin: ",
                        "application.yaml] - 6:20",
                        "Did you mean max-requests? The properties of ratelimit.limits.api are ");
        assertThat(StringUtils.countOccurrencesOf(output.getAll(), "ratelimit.limits.api.max-request\n"))
                .isEqualTo(1);
    }

    @Test
    void misspeltValueIsReportedInTheDocumentedSpelling(CapturedOutput output) {
        start("--ratelimit.limits.a.algorithm=sliding_windw");

        assertThat(output)
                .contains(
                        "APPLICATION FAILED TO START",
                        "Property: ratelimit.limits.a.algorithm\n    Value: 'sliding_windw'",
                        "Did you mean sliding-window? Write one of fixed-window, sliding-window, sliding-log,"
                                + " token-bucket, leaky-bucket.")
                .doesNotContain("SLIDING_WINDOW");
    }

    /** They are no properties of Spring Boot: only the limit knows them. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "algorithm: fixed-window, max-requests: 0, window: 1m | max-requests | 0 | 4:51",
                "base: login, tiers: { free: { max-request: 10 } } | tiers.free.max-request | '10' | 4:55",
                "base: login, tiers: { free: { maxRequests: 0 } } | tiers.free.max-requests | 0 | 4:55",
                "base: login, candidate: { windwo: 1m } | candidate.windwo | '1m' | 4:46",
                "base: logni | base | 'logni' | 4:18",
                "base: login, penalties: [ { after: 1, block: 1x } ] | penalties.block | '1x' | 4:47",
            },
            quoteCharacter = '\u0000')
    void invalidLimitIsReportedWithItsFileAndLine(
            String limit, String property, String value, String place, @TempDir Path folder, CapturedOutput output)
            throws Exception {
        Path file = Files.writeString(folder.resolve("application.yaml"), """
                ratelimit:
                  store.type: memory
                  limits:
                    api: { %s }
                    login: { algorithm: fixed-window, max-requests: 5, window: 1m }
                """.formatted(limit));

        start("--spring.config.location=" + file.toUri());

        assertThat(output)
                .contains(
                        "APPLICATION FAILED TO START",
                        "Property: ratelimit.limits.api." + property + "\n    Value: " + value + "\n    Origin: ",
                        "application.yaml] - " + place);
    }

    /** A rule is known by its name, and stands somewhere else. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "- { name: api, path: api/**, limits: [a] } | rules[0].path | 'api/**' | 5:26",
                "- { path: /api/**, limits: [b] } | rules[0].limits | 'b' | 5:33",
                "- { name: api, limits: [b] } | rules[0].limits | 'b' | 5:29",
                "all: { name: api, key: adress, limits: [a] } | rules.all.key | 'adress' | 5:28",
                "api: { key: adress, limits: [a] } | rules.api.key | 'adress' | 5:17",
                "- { name: api, limits: [a], response: { status: 200 } } | rules[0].response.status | 200 | 5:53",
                "- { name: api, limits: [a], response: { code: 503 } } | rules[0].response.code | 503 | 5:51",
                "- { name: api, limits: [a], key: '' } | rules[0].key | '' | 5:38",
                "- { name: api, limits: { a: { max-requests: 5 } } } | rules[0].limits.a.max-requests | 5 | 5:49",
            },
            quoteCharacter = '\u0000')
    void invalidRuleIsReportedWithItsFileAndLine(
            String rule, String property, String value, String place, @TempDir Path folder, CapturedOutput output)
            throws Exception {
        Path file = Files.writeString(folder.resolve("application.yaml"), """
                ratelimit:
                  store.type: memory
                  limits.a: { algorithm: fixed-window, max-requests: 5, window: 1m }
                  rules:
                    %s
                """.formatted(rule));

        start("--spring.config.location=" + file.toUri());

        assertThat(output)
                .contains(
                        "APPLICATION FAILED TO START",
                        "Property: ratelimit." + property + "\n    Value: " + value + "\n    Origin: ",
                        "application.yaml] - " + place);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "response.mesage=x | Did you mean message? The properties of ratelimit.rules[0].response are message,"
                        + " retry-after, status.",
                "response.status.code=503 | Leave out 'code': ratelimit.rules[0].response.status is a single value.",
                "limits.b=true | Write [ b ]: ratelimit.rules[0].limits is a list of single values.",
            },
            quoteCharacter = '\u0000')
    void propertyBelowOneOfARuleInAListIsNotIgnored(String setting, String action, CapturedOutput output) {
        start(
                "--ratelimit.store.type=memory",
                "--ratelimit.limits.a.algorithm=fixed-window",
                "--ratelimit.limits.a.max-requests=5",
                "--ratelimit.limits.a.window=1m",
                "--ratelimit.rules[0].limits=a",
                "--ratelimit.rules[0].response.retry-after=1s",
                "--ratelimit.rules[0]." + setting);

        assertThat(output)
                .contains(
                        "APPLICATION FAILED TO START",
                        "Property: ratelimit.rules[0]." + setting.substring(0, setting.indexOf('=')),
                        action);
    }

    @Test
    void readmeShowsTheMessage(@TempDir Path folder, CapturedOutput output) throws Exception {
        String readme = Files.readString(Path.of("../README.md"));
        String yaml = Pattern.compile("(?s)```yaml\n(.*?)```")
                .matcher(readme)
                .results()
                .map(block -> block.group(1))
                .limit(2)
                .collect(Collectors.joining())
                .replace("max-requests: 5,", "max-requests: 0,");
        Path file = Files.writeString(folder.resolve("application.yaml"), yaml + "ratelimit.store.type: memory\n");
        int begin = readme.indexOf("Invalid rate limit configuration:");
        String shown = readme.substring(begin, readme.indexOf("```", begin))
                .replace(
                        "class path resource [application.yaml]",
                        "URL [" + file.toUri().toURL() + "]");

        start("--spring.config.location=" + file.toUri());

        assertThat(output).contains(shown);
    }

    private static void start(String... arguments) {
        SpringApplication spring =
                new SpringApplication(RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class);
        spring.setWebApplicationType(WebApplicationType.NONE);
        assertThatThrownBy(() -> spring.run(arguments)).isInstanceOf(RuntimeException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.limits.a.maxRequest=1 | Did you mean max-requests? The properties of ratelimit.limits.a are "
                        + OF_A_LIMIT + ".",
                "ratelimit.limits.a.penalties[0].aftre=1 |"
                        + " Did you mean after? The properties of ratelimit.limits.a.penalties[0] are after, block.",
                "ratelimit.limits.a.penalties.block=5m |"
                        + " ratelimit.limits.a.penalties is a list: write [ { block: 5m } ].",
                "ratelimit.limits[0].name=api | Limits are a map: write each below its name, as in api: { ",
                "ratelimit.limits.a.window.size=1m | Leave out 'size': ratelimit.limits.a.window is a single value.",
                "ratelimit.stroe.type=memory | Did you mean store? The properties of ratelimit are ",
                "ratelimit.rules[0].pth=/a | Did you mean path? The properties of ratelimit.rules[0] are ",
                "ratelimit.rules.api.pth=/a | Did you mean path? The properties of ratelimit.rules.api are ",
                "ratelimit.tiers.defualt=free |"
                        + " Did you mean default? The properties of ratelimit.tiers are authorities, default, names,"
                        + " quotas, zone.",
                "ratelimit.store.sqlite.file=x.db |"
                        + " The properties of ratelimit.store.sqlite are path, synchronous.",
                "ratelimit.on-failure=opne | Did you mean open? Write one of ",
                "ratelimit.store.type=postgres | Did you mean postgresql? Write one of ",
                "ratelimit.store.deadline=soon | Write a time such as 500ms, 10s, 15m, 1h or 1d.",
                "ratelimit.headers.legacy=maybe | Write true or false.",
                "ratelimit.instances=two | Write a whole number.",
                "ratelimit.login=api | Write its properties below it. They are address-limit, ",
                "ratelimit.limits=api | Write names of your choice below it, each with its value.",
                "ratelimit.tiers.zone=Berlin | Write a time zone such as Europe/Berlin or UTC.",
            },
            quoteCharacter = '\u0000')
    void mistakeIsAnsweredByWhatToWrite(String setting, String action) {
        application.withPropertyValues(setting).run(context -> {
            FailureAnalysis analysis = new PropertyFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .startsWith("Invalid rate limit configuration:\n\n    Property: ratelimit.");
            assertThat(analysis.getAction()).startsWith(action);
        });
    }

    @Test
    void severalMisspeltPropertiesAreReportedTogether() {
        application
                .withPropertyValues("ratelimit.limts.a.window=1m", "ratelimit.store.dedline=1s")
                .run(context -> {
                    FailureAnalysis analysis = new PropertyFailureAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .contains("Property: ratelimit.limts.a.window", "Property: ratelimit.store.dedline");
                    assertThat(analysis.getAction()).contains("Did you mean limits?", "Did you mean deadline?");
                });
    }

    @Test
    void valueThatMayBeAPasswordIsNotShown() {
        application
                .withPropertyValues("ratelimit.store.postgresql.pasword=SECRET")
                .run(context -> {
                    FailureAnalysis analysis = new PropertyFailureAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription()).doesNotContain("SECRET");
                    assertThat(analysis.getAction()).startsWith("Did you mean password?");
                });
    }
}
