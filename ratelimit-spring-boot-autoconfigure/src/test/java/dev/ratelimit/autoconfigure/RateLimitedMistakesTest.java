package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.annotation.RateLimitExempt;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.startup.ConfigurationFailureAnalyzer;
import dev.ratelimit.startup.TwoNamesFailureAnalyzer;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;

/** A mistake in an annotation stops the start, not a call. */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitedMistakesTest {

    private static final String HERE = RateLimitedMistakesTest.class.getName() + "$";

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class, RateLimitAutoConfiguration.class, RateLimitedAutoConfiguration.class))
            .withPropertyValues(
                    "ratelimit.store.type=memory",
                    "ratelimit.store.deadline=10s",
                    "ratelimit.limits.two.algorithm=fixed-window",
                    "ratelimit.limits.two.max-requests=2",
                    "ratelimit.limits.two.window=3660d");

    record Form(String email) {}

    record Order<T>(T customer, Optional<T> payer, Parcel parcel) {}

    static class Parcel {
        public String getStreet() {
            return "";
        }
    }

    static class UnknownLimit {
        @RateLimited("tow")
        public void call(String name) {}
    }

    @RateLimited("tow")
    static class UnknownLimitOnClass {
        public void call() {}
    }

    static class NoLimit {
        @RateLimited(key = "#name")
        public void call(String name) {}
    }

    static class UnreadableKey {
        @RateLimited(limit = "two", key = "#form.")
        public void call(Form form) {}
    }

    static class UnreadableCountWhen {
        @RateLimited(limit = "two", countWhen = "#status == ")
        public void call() {}
    }

    static class MistypedKey {
        @RateLimited(limit = "two", key = "#from.email")
        public void call(Form form) {}
    }

    static class MisspeltProperty {
        @RateLimited(limit = "two", key = "#form.emial")
        public void call(Form form) {}
    }

    static class MisspeltMethod {
        @RateLimited(limit = "two", key = "#form.emial()")
        public void call(Form form) {}
    }

    static class MisspeltRequestMethod {
        @RateLimited(limit = "two", key = "#request.getHeadr('X-Tenant')")
        public void call() {}
    }

    static class MisspeltClass {
        @RateLimited(limit = "two", countWhen = "#exception instanceof T(java.io.IOExeption)")
        public void call() {}
    }

    static class StatusCodeAsNumber {
        @RateLimited(limit = "two", countWhen = "#result.statusCode == 401")
        public ResponseEntity<String> call() {
            return ResponseEntity.ok("");
        }
    }

    static class EnumAsText {
        @RateLimited(limit = "two", countWhen = "#result.statusCode.value() == 401 and 'DAYS' == #unit")
        public ResponseEntity<String> call(TimeUnit unit) {
            return ResponseEntity.ok("");
        }
    }

    static class NumberAsCondition {
        @RateLimited(limit = "two", countWhen = "401")
        public void call() {}
    }

    static class StatusAsCondition {
        @RateLimited(limit = "two", resetWhen = "#status")
        public void call() {}
    }

    static class KeyInCapitals {
        @RateLimited(limit = "two", key = "User + IP")
        public void call() {}
    }

    static class MisspeltNullSafeProperty {
        @RateLimited(limit = "two", key = "#form?.emial")
        public void call(Form form) {}
    }

    static class MisspeltNestedProperty {
        @RateLimited(limit = "two", key = "#order.customer?.emial")
        public void call(Order<Form> order) {}
    }

    static class MisspeltRequestProperty {
        @RateLimited(limit = "two", key = "#client + #request.requestUri")
        public void call() {}
    }

    static class PropertyOfClient {
        @RateLimited(limit = "two", key = "#client.address")
        public void call() {}
    }

    static class PropertyOfStatus {
        @RateLimited(limit = "two", countWhen = "#status.code == 401")
        public void call() {}
    }

    static class MisspeltExceptionProperty {
        @RateLimited(limit = "two", countWhen = "#exception?.mesage == 'bad'")
        public void call() {}
    }

    static class PropertyOfResult {
        @RateLimited(limit = "two", countWhen = "#result.failed")
        public Form call() {
            return new Form("");
        }
    }

    static class PropertyOfLaterResult {
        @RateLimited(limit = "two", resetWhen = "#result.emial == null")
        public CompletableFuture<Form> call() {
            return new CompletableFuture<>();
        }
    }

    static class ExceptionOfDeferredResult {
        @RateLimited(limit = "two", countWhen = "#exception != null")
        public DeferredResult<Form> call() {
            return new DeferredResult<>();
        }
    }

    static class ResultOfFuture {
        @RateLimited(limit = "two", resetWhen = "#result == 'ok'")
        public FutureTask<String> call() {
            return new FutureTask<>(() -> "ok");
        }
    }

    @RateLimited(limit = "two", countWhen = "#exception != null")
    static class ExceptionOfPublishers {
        public Flow.Publisher<Form> call() {
            return subscriber -> {};
        }

        public Flow.Publisher<Form> send() {
            return subscriber -> {};
        }
    }

    @RateLimited(limit = "two", key = "#form.emial")
    static class MisspeltPropertyOnClass {
        public void call(Form form) {}

        public void ping() {}
    }

    static class UnknownBean {
        @RateLimited(limit = "two", key = "@tenants.of(#form)")
        public void call(Form form) {}
    }

    static class UnknownResolver {
        @RateLimited(limit = "two", key = "bean:tenants")
        public void call() {}
    }

    static class ResolverOfAnotherType {
        @RateLimited(limit = "two", key = "bean:rateLimiter")
        public void call() {}
    }

    static class AssignedStatus {
        @RateLimited(limit = "two", countWhen = "#status = 401")
        public void call() {}
    }

    static class StatusAsText {
        @RateLimited(limit = "two", countWhen = "#status == '401' or #exception != null")
        public void call() {}
    }

    static class TextAsStatus {
        @RateLimited(limit = "two", resetWhen = "'200' == #status")
        public void call() {}
    }

    static class BareStatus {
        @RateLimited(limit = "two", countWhen = "status == 401")
        public void call() {}
    }

    static class TwoAssignments {
        @RateLimited(limit = "two", countWhen = "#status = 401 or #status = 403")
        public void call() {}
    }

    static class BareClass {
        @RateLimited(limit = "two", countWhen = "#exception instanceof java.io.IOException")
        public void call() {}
    }

    static class TooEarly {
        @RateLimited(limit = "two", key = "#status")
        public void call() {}
    }

    @RateLimited(limit = "two", countWhen = "#staus == 401")
    static class MistypedStatusOnClass {
        public void call(String name) {}

        public void send(Form form) {}

        @RateLimitExempt
        public void ping(int staus) {}

        private void hidden(int staus) {}
    }

    @RateLimited(limit = "two", key = "#status")
    static class TooEarlyOnClass {
        public void call() {}
    }

    static class NoCost {
        @RateLimited(limit = "two", cost = "0")
        public void call() {}
    }

    static class NegativeCost {
        @RateLimited(limit = "two", cost = "-1")
        public void call() {}
    }

    static class HighCost {
        @RateLimited(limit = "two", cost = "1 + 2")
        public void call() {}
    }

    static class WordAsCost {
        @RateLimited(limit = "two", cost = "'many'")
        public void call() {}
    }

    static class FinalMethod {
        @RateLimited("two")
        public final void call() {}
    }

    static class PrivateMethod {
        @RateLimited("two")
        private void call() {}
    }

    static class StaticMethod {
        @RateLimited("two")
        public static void call() {}
    }

    @RateLimited("two")
    static class FinalMethodOfLimitedClass {
        public final void call() {}
    }

    static class Quota {
        @RateLimited("quota")
        public void call() {}
    }

    static class BareKey {
        @RateLimited(limit = "two", key = "usr")
        public void call() {}
    }

    static class NoHeader {
        @RateLimited(limit = "two", key = "header:X Y")
        public void call() {}
    }

    static class LimitedAndExempt {
        @RateLimited("two")
        @RateLimitExempt
        public void call() {}
    }

    static class MakesABean {
        @Bean
        @RateLimited("two")
        public Form form() {
            return new Form("");
        }
    }

    static Stream<Arguments> mistakes() {
        String cost = "Write a whole number from 1 to 2, all that limit 'two' can grant.";
        String hidden = "Leave it out, or the annotation: a proxy does not see calls of such a method";
        return Stream.of(
                mistake(
                        UnknownLimit.class,
                        ".call(String)",
                        "limit",
                        "'tow'",
                        "Name one of two, or define it under ratelimit.limits."),
                mistake(
                        UnknownLimitOnClass.class,
                        "",
                        "limit",
                        "'tow'",
                        "Name one of two, or define it under ratelimit.limits."),
                mistake(
                        NoLimit.class,
                        ".call(String)",
                        "limit",
                        "missing",
                        "Name a limit, as in @RateLimited(\"login\")."),
                mistake(UnreadableKey.class, ".call(Form)", "key", "'#form.'", "Write a valid expression: "),
                mistake(
                        UnreadableCountWhen.class,
                        ".call()",
                        "countWhen",
                        "'#status == '",
                        "Write a valid expression: "),
                mistake(
                        MistypedKey.class,
                        ".call(Form)",
                        "key",
                        "'#from.email'",
                        "Write one of #request, #principal, #client, #form, #a0, #p0 instead of #from, which is unknown here."),
                mistake(
                        MisspeltProperty.class,
                        ".call(Form)",
                        "key",
                        "'#form.emial'",
                        "Write email instead of emial, which is no property of Form."),
                mistake(
                        MisspeltMethod.class,
                        ".call(Form)",
                        "key",
                        "'#form.emial()'",
                        "Write email(…) instead of emial(…), which is no method of Form."),
                mistake(
                        MisspeltRequestMethod.class,
                        ".call()",
                        "key",
                        "'#request.getHeadr('X-Tenant')'",
                        "Write getHeader(…) instead of getHeadr(…), which is no method of HttpServletRequest."),
                mistake(
                        MisspeltClass.class,
                        ".call()",
                        "countWhen",
                        "'#exception instanceof T(java.io.IOExeption)'",
                        "Name a class that exists, with its package, instead of java.io.IOExeption."),
                mistake(
                        StatusCodeAsNumber.class,
                        ".call()",
                        "countWhen",
                        "'#result.statusCode == 401'",
                        "Compare #result.statusCode.value() with 401: #result.statusCode is of type HttpStatusCode, and no"
                                + " number equals it."),
                mistake(
                        EnumAsText.class,
                        ".call(TimeUnit)",
                        "countWhen",
                        "'#result.statusCode.value() == 401 and 'DAYS' == #unit'",
                        "Compare #unit.name() with 'DAYS': #unit is of type TimeUnit, and no text equals it."),
                mistake(
                        NumberAsCondition.class,
                        ".call()",
                        "countWhen",
                        "'401'",
                        "Write a condition, such as #status == 401, instead of 401."),
                mistake(
                        StatusAsCondition.class,
                        ".call()",
                        "resetWhen",
                        "'#status'",
                        "Write a condition that is true or false: #status is a number."),
                mistake(
                        KeyInCapitals.class,
                        ".call()",
                        "key",
                        "'User + IP'",
                        "Write user, ip, user+ip, session, api-key, header:NAME, bean:NAME"),
                mistake(
                        MisspeltNullSafeProperty.class,
                        ".call(Form)",
                        "key",
                        "'#form?.emial'",
                        "Write email instead of emial, which is no property of Form."),
                mistake(
                        MisspeltNestedProperty.class,
                        ".call(Order)",
                        "key",
                        "'#order.customer?.emial'",
                        "Write email instead of emial, which is no property of Form."),
                mistake(
                        MisspeltRequestProperty.class,
                        ".call()",
                        "key",
                        "'#client + #request.requestUri'",
                        "Write requestURI instead of requestUri, which is no property of HttpServletRequest."),
                mistake(
                        PropertyOfClient.class,
                        ".call()",
                        "key",
                        "'#client.address'",
                        "Write a property of String instead of address, which it does not have."),
                mistake(
                        PropertyOfStatus.class,
                        ".call()",
                        "countWhen",
                        "'#status.code == 401'",
                        "Write a property of Integer instead of code, which it does not have."),
                mistake(
                        MisspeltExceptionProperty.class,
                        ".call()",
                        "countWhen",
                        "'#exception?.mesage == 'bad''",
                        "Write message instead of mesage, which is no property of Throwable."),
                mistake(
                        PropertyOfResult.class,
                        ".call()",
                        "countWhen",
                        "'#result.failed'",
                        "Write a property of Form instead of failed, which it does not have."),
                mistake(
                        PropertyOfLaterResult.class,
                        ".call()",
                        "resetWhen",
                        "'#result.emial == null'",
                        "Write email instead of emial, which is no property of Form."),
                mistake(
                        ExceptionOfDeferredResult.class,
                        ".call()",
                        "countWhen",
                        "'#exception != null'",
                        "Write #status instead of #exception, or return a CompletionStage: the outcome of DeferredResult is not"
                                + " known when the method returns."),
                mistake(
                        ResultOfFuture.class,
                        ".call()",
                        "resetWhen",
                        "'#result == 'ok''",
                        "Write #status instead of #result, or return a CompletionStage: the outcome of FutureTask"),
                mistake(
                        ExceptionOfPublishers.class,
                        "",
                        "countWhen",
                        "'#exception != null'",
                        "Write #status instead of #exception, or return a CompletionStage: the outcome of Publisher"),
                mistake(
                        MisspeltPropertyOnClass.class,
                        "",
                        "key",
                        "'#form.emial'",
                        "Write email instead of emial, which is no property of Form."),
                mistake(
                        UnknownBean.class,
                        ".call(Form)",
                        "key",
                        "'@tenants.of(#form)'",
                        "Name a bean that exists instead of @tenants."),
                mistake(
                        UnknownResolver.class,
                        ".call()",
                        "key",
                        "'bean:tenants'",
                        "Name a bean of type dev.ratelimit.web.servlet.SubjectResolver that exists."),
                mistake(
                        ResolverOfAnotherType.class,
                        ".call()",
                        "key",
                        "'bean:rateLimiter'",
                        "Name a bean of type dev.ratelimit.web.servlet.SubjectResolver that exists."),
                mistake(
                        AssignedStatus.class,
                        ".call()",
                        "countWhen",
                        "'#status = 401'",
                        "Write == to compare; a single = assigns."),
                mistake(
                        StatusAsText.class,
                        ".call()",
                        "countWhen",
                        "'#status == '401' or #exception != null'",
                        "Write a number instead of '401': #status is a number, and no text equals it."),
                mistake(
                        TextAsStatus.class,
                        ".call()",
                        "resetWhen",
                        "''200' == #status'",
                        "Write a number instead of '200': #status is a number, and no text equals it."),
                mistake(
                        BareStatus.class,
                        ".call()",
                        "countWhen",
                        "'status == 401'",
                        "Write #status: arguments, #request, #principal, #client, #status, #result and #exception begin with #, and a"
                                + " text stands in quotes."),
                mistake(
                        TwoAssignments.class,
                        ".call()",
                        "countWhen",
                        "'#status = 401 or #status = 403'",
                        "Write == to compare; a single = assigns."),
                mistake(
                        BareClass.class,
                        ".call()",
                        "countWhen",
                        "'#exception instanceof java.io.IOException'",
                        "Write T(java.io.IOException) instead of java.io.IOException, with the package of the class."),
                mistake(
                        TooEarly.class,
                        ".call()",
                        "key",
                        "'#status'",
                        "Write one of #request, #principal, #client instead of #status, which is unknown here."),
                mistake(
                        MistypedStatusOnClass.class,
                        "",
                        "countWhen",
                        "'#staus == 401'",
                        "Write one of #request, #principal, #client, #name, #a0, #p0, #form, #result, #exception, #status instead of"),
                mistake(
                        TooEarlyOnClass.class,
                        "",
                        "key",
                        "'#status'",
                        "Write one of #request, #principal, #client instead of #status, which is unknown here."),
                mistake(
                        Quota.class,
                        ".call()",
                        "limit",
                        "'quota'",
                        "Write a rule with limits: [quota]: the caller's quota works only in rules."),
                mistake(
                        BareKey.class,
                        ".call()",
                        "key",
                        "'usr'",
                        "Write user, ip, user+ip, session or api-key, or an expression: #usr: arguments, "),
                mistake(
                        NoHeader.class,
                        ".call()",
                        "key",
                        "'header:X Y'",
                        "Write user, ip, user+ip, session, api-key, header:NAME, bean:NAME"),
                mistake(
                        LimitedAndExempt.class,
                        ".call()",
                        "annotation",
                        "'@RateLimitExempt'",
                        "Leave out one of them: @RateLimitExempt takes the method out of all limits."),
                mistake(
                        MakesABean.class,
                        ".form()",
                        "annotation",
                        "'@Bean'",
                        "Annotate the class of the bean, or its methods: this method only makes it."),
                mistake(NoCost.class, ".call()", "cost", "'0'", cost),
                mistake(NegativeCost.class, ".call()", "cost", "'-1'", cost),
                mistake(HighCost.class, ".call()", "cost", "'1 + 2'", cost),
                mistake(WordAsCost.class, ".call()", "cost", "''many''", cost),
                mistake(FinalMethod.class, ".call()", "modifier", "'final'", hidden + "."),
                mistake(PrivateMethod.class, ".call()", "modifier", "'private'", hidden + "."),
                mistake(StaticMethod.class, ".call()", "modifier", "'static'", hidden + "."),
                mistake(
                        FinalMethodOfLimitedClass.class,
                        ".call()",
                        "modifier",
                        "'final'",
                        hidden + "; or add @RateLimitExempt."));
    }

    private static Arguments mistake(Class<?> bean, String method, String attribute, String value, String action) {
        return Arguments.of(bean, HERE + bean.getSimpleName() + method, attribute, value, action);
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void mistakeStopsTheStartAndSaysWhatToWriteInstead(
            Class<?> bean, String on, String attribute, String value, String action) {
        application.withBean(bean).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .isEqualTo("Invalid @RateLimited annotation:\n\n    On: " + on + "\n    Property: " + attribute
                            + "\n    Value: " + value);
            assertThat(analysis.getAction()).startsWith(action);
        });
    }

    @Test
    void classThatWasCompiledWithoutNamesIsToldTheFlag(@TempDir Path folder) throws Exception {
        Path source = Files.writeString(folder.resolve("Mailer.java"), """
                public class Mailer {
                    @dev.ratelimit.annotation.RateLimited(limit = "two", key = "#address")
                    public void send(String address) {}
                }
                """);
        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-cp", System.getProperty("java.class.path"), source.toString());
        assertThat(result).isZero();
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            application
                    .withClassLoader(loader)
                    .withBean(loader.loadClass("Mailer"))
                    .run(context -> {
                        FailureAnalysis analysis =
                                new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
                        assertThat(analysis).isNotNull();
                        assertThat(analysis.getDescription()).contains("On: Mailer.send(String)", "Value: '#address'");
                        assertThat(analysis.getAction())
                                .isEqualTo(
                                        "Compile the class with -parameters (javac) or -java-parameters (kotlinc), so that"
                                                + " #address is known; or write one of #request, #principal, #client, #a0, #p0.");
                    });
        }
    }

    /** Spring stumbles over such a class as soon as it scans it, so there is none among those of the tests. */
    @Test
    void twoNamesOfALimitAreReported(@TempDir Path folder) throws Exception {
        Path source = Files.writeString(folder.resolve("Twice.java"), """
                public class Twice {
                    @dev.ratelimit.annotation.RateLimited(value = "two", limit = "tow")
                    public void call() {}
                }
                """);
        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-cp", System.getProperty("java.class.path"), source.toString());
        assertThat(result).isZero();
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            application
                    .withClassLoader(loader)
                    .withBean(loader.loadClass("Twice"))
                    .run(context -> {
                        FailureAnalysis analysis = new TwoNamesFailureAnalyzer().analyze(context.getStartupFailure());
                        assertThat(analysis).isNotNull();
                        assertThat(analysis.getDescription())
                                .startsWith("Invalid @RateLimited annotation: ")
                                .contains("Twice.call()", "[two]", "[tow]");
                        assertThat(analysis.getAction()).startsWith("Write one name of a limit");
                    });
        }
    }

    @Test
    void exceptionOfAnotherAnnotationIsLeftToOthers() {
        assertThat(new TwoNamesFailureAnalyzer().analyze(new AnnotationConfigurationException("of @Other")))
                .isNull();
    }

    @Test
    void mistakeInABeanThatIsMadeLaterStopsTheStartToo() {
        application
                .withBean(UnknownLimit.class, UnknownLimit::new, definition -> definition.setLazyInit(true))
                .run(context -> assertThat(context).hasFailed());
    }

    @RateLimited("two")
    static class Own extends WithFinalMethod {
        @RateLimitExempt
        public final void ping() {}
    }

    static class WithFinalMethod {
        public final void inherited() {}
    }

    @Test
    void finalMethodThatIsExemptOrInheritedByALimitedClassIsNoMistake() {
        application.withBean(Own.class).run(context -> assertThat(context).hasNotFailed());
    }

    static class ExemptOverride extends LimitedParent {
        @Override
        @RateLimitExempt
        public void call() {}
    }

    static class LimitedParent {
        @RateLimited("two")
        public void call() {}
    }

    @Test
    void overridingMethodMayBeExempt() {
        application
                .withBean(ExemptOverride.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    static class OutcomesThatAreKnown {
        @RateLimited(limit = "two", countWhen = "#exception != null or #result == null")
        public CompletableFuture<Form> stage() {
            return new CompletableFuture<>();
        }

        @RateLimited(limit = "two", countWhen = "#status == 401")
        public DeferredResult<Form> deferred() {
            return new DeferredResult<>();
        }
    }

    @Test
    void outcomeOfAStageAndStatusOfALaterResultAreNoMistake() {
        application
                .withBean(OutcomesThatAreKnown.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @RateLimited(limit = "two", key = "#form?.email ?: #name", countWhen = "#status == 401 or #result == 'bad'")
    static class WordsOfSeveralMethods {
        public void call(String name) {}

        public void send(Form form) {}

        public void ping() {}
    }

    @Test
    void wordThatOneMethodOfALimitedClassHasIsNoMistake() {
        application
                .withBean(WordsOfSeveralMethods.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    abstract static class Posting<T extends Parcel> {
        @RateLimited(limit = "two", key = "#parcel.country")
        public void post(T parcel) {}
    }

    static class ForeignParcel extends Parcel {
        public String getCountry() {
            return "";
        }
    }

    /** Values may have properties that declared types lack. */
    static class PropertiesOfValues extends Posting<ForeignParcel> {

        @RateLimited(limit = "two", key = "#order.parcel.country + #order.payer?.email + #order.payer.present")
        @RateLimited(
                limit = "two",
                key = "#map.emial + #any.emial + #type.MAX_VALUE + #words.length + #order.class.name")
        @RateLimited(limit = "two", key = "#request.tenant", countWhen = "#exception.statusCode == 401")
        @RateLimited(limit = "two", countWhen = "#exception.messages.empty or #result.country == 'XX'")
        public Parcel call(Order<Form> order, Map<String, String> map, Object any, Class<?> type, String[] words) {
            return new ForeignParcel();
        }

        @RateLimited(limit = "two", key = "#request.country")
        public void hidden(ForeignParcel request) {}
    }

    @Test
    void propertyThatAValueMayHaveIsNoMistake() {
        application
                .withBean(PropertiesOfValues.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    static final class FinalClass {
        @RateLimited("two")
        public void call() {}
    }

    @Test
    void finalClassStopsTheStart() {
        application.withBean(FinalClass.class).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .isEqualTo("Invalid @RateLimited annotation:\n\n    On: " + HERE
                            + "FinalClass.call()\n    Property: class modifier\n    Value: 'final'");
        });
    }

    static final class FinalGreeter implements Supplier<String> {
        @Override
        @RateLimited("two")
        public String get() {
            return "hello";
        }
    }

    @Test
    @SuppressWarnings("unchecked")
    void finalClassBehindItsInterfaceIsNoMistake() {
        application
                .withBean(FinalGreeter.class)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> {
                    Supplier<String> greeter = context.getBean(Supplier.class);
                    assertThat(greeter.get()).isEqualTo("hello");
                    assertThat(greeter.get()).isEqualTo("hello");
                    assertThatThrownBy(greeter::get).isInstanceOf(RateLimitExceededException.class);
                });
    }

    static class Greeter {
        @RateLimited("two")
        public void greet() {}
    }

    @Test
    void beansAreLimitedThoughAspectJIsSwitchedOff() {
        application
                .withBean(Greeter.class)
                .withPropertyValues("spring.aop.auto=false")
                .run(context -> {
                    Greeter greeter = context.getBean(Greeter.class);
                    greeter.greet();
                    greeter.greet();
                    assertThatThrownBy(greeter::greet).isInstanceOf(RateLimitExceededException.class);
                });
    }

    @Test
    void beanThatNoProxyStandsBeforeIsWarnedOf(CapturedOutput output) {
        application
                .withInitializer(context -> context.getBeanFactory().registerSingleton("early", new Greeter()))
                .run(context -> assertThat(output)
                        .contains("@RateLimited on " + HERE + "Greeter.greet() limits no call of bean 'early'"));
        application
                .withBean("proxied", Greeter.class)
                .run(context -> assertThat(output).doesNotContain("'proxied'"));
    }
}
