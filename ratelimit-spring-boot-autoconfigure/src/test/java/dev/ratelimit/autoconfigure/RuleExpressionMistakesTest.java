package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.startup.ConfigurationFailureAnalyzer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** A mistake in an expression of a rule stops the start, not a request. */
class RuleExpressionMistakesTest {

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
                    "ratelimit.rules.r.limits=a");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "condition | @tenants.isSmall(#request) | Name a bean that exists instead of @tenants.",
                "key | @tenants.of(#request) | Name a bean that exists instead of @tenants.",
                "key | bean:tenants | Name a bean of type dev.ratelimit.web.servlet.SubjectResolver that exists.",
                "key | bean:rateLimiter | Name a bean of type dev.ratelimit.web.servlet.SubjectResolver that exists.",
                "condition | #requst.secure | Write #request, #principal, #client or a bean instead of #requst.",
                "condition | #status == 401 | Write #request, #principal, #client or a bean instead of #status.",
                "condition | method == 'GET' |"
                        + " Write #request, #principal, #client or a bean instead of method; a text stands in quotes.",
                "condition | #client = '10.0.0.1' | Write == to compare; a single = assigns.",
                "condition | #client = '10.0.0.1' or #client = '10.0.0.2' | Write == to compare; a single = assigns.",
                "condition | #client === '10.0.0.1' | Write == to compare; a single = assigns.",
                "condition | #principal instanceof Admin |"
                        + " Write T(PACKAGE.Admin) instead of Admin, with the package of the class.",
                "condition | #client == 'a=b | Write a valid expression: ",
                "condition | #request. | Write a valid expression: ",
                "condition | #request.methd == 'GET' |"
                        + " Write method instead of methd, which is no property of HttpServletRequest.",
                "condition | #request?.requestUri == '/' |"
                        + " Write requestURI instead of requestUri, which is no property of HttpServletRequest.",
                "key | #request.session?.creationTme |"
                        + " Write creationTime instead of creationTme, which is no property of HttpSession.",
                "condition | #request.serverPort == '8080' | Write a number instead of '8080': #request.serverPort is a number,",
                "condition | #request.serverPort | Write a condition that is true or false: #request.serverPort is a number.",
                "condition | #request.getHeadr('X-A') == null |"
                        + " Write getHeader(…) instead of getHeadr(…), which is no method of HttpServletRequest.",
                "condition | T(java.lang.Strin).valueOf(1) == #client | Name a class that exists, with its package, instead of java.lang.Strin.",
                "key | #client.address | Write a property of String instead of address, which it does not have.",
            },
            quoteCharacter = '\u0000')
    void mistakeStopsTheStart(String property, String expression, String action) {
        application
                .withPropertyValues("ratelimit.rules.r." + property + "=" + expression)
                .run(context -> {
                    FailureAnalysis analysis =
                            new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .isEqualTo("Invalid rate limit configuration:\n\n    Property: ratelimit.rules.r."
                                    + property + "\n    Value: '" + expression + "'");
                    assertThat(analysis.getAction()).startsWith(action);
                });
    }

    @Test
    void conditionThatYamlTookForACommentStopsTheStart() {
        application.withPropertyValues("ratelimit.rules.r.condition=").run(context -> {
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription()).contains("Property: ratelimit.rules.r.condition\n    Value: ''");
            assertThat(analysis.getAction())
                    .isEqualTo("Write the expression in quotes, since # begins a comment in YAML; or leave this out.");
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "condition | @environment.getProperty('x') == null and #request.secure",
                "condition | {1, 2}.?[#this > 1].size() == 1",
                "key | #principal?.name + ' ' + #client",
                "key | #request.getParameter('tenant')",
                "key | #request.tenant + #request.session.id + #request.class.name", // a filter may have wrapped it
                "key | #principal.attributes",
                "condition | #client.bytes.length > 3 and #client.empty",
            },
            quoteCharacter = '\u0000')
    void expressionThatMayHaveAValueIsNoMistake(String property, String expression) {
        application
                .withPropertyValues("ratelimit.rules.r." + property + "=" + expression)
                .run(context -> assertThat(context).hasNotFailed());
    }
}
