package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.annotation.RateLimited;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;

/** An application that is processed ahead of time, as for a native image, keeps what its expressions need. */
class AheadOfTimeTest {

    private static final RuntimeHints hints = new RuntimeHints();

    record Address(String street) {}

    record Form(String email, Address address) {}

    record Unseen(String name) {}

    record Result(boolean good) {}

    static class Tenants {
        public String of(String name) {
            return name;
        }
    }

    static class Service {

        @RateLimited(limit = "two", key = "@tenants.of(#form.address.street)", countWhen = "#result.good")
        public CompletionStage<Result> call(Form form) {
            return CompletableFuture.completedFuture(new Result(form.email().isEmpty()));
        }

        @RateLimited("two")
        public void plain(Unseen unseen) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Tenants tenants() {
            return new Tenants();
        }

        @Bean
        Service service() {
            return new Service();
        }
    }

    @BeforeAll
    static void process() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of("ratelimit.store.type=memory").applyTo(context);
            context.register(Application.class, RateLimitAutoConfiguration.class, RateLimitedAutoConfiguration.class);
            DefaultGenerationContext generation = new DefaultGenerationContext(
                    new ClassNameGenerator(ClassName.get(AheadOfTimeTest.class)), new InMemoryGeneratedFiles(), hints);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
    }

    @Test
    void argumentsAndWhatTheyHoldCanBeRead() {
        assertThat(invocable(Form.class, "email")).accepts(hints);
        assertThat(invocable(Form.class, "address")).accepts(hints);
        assertThat(invocable(Address.class, "street")).accepts(hints);
        assertThat(invocable(String.class, "strip")).accepts(hints);
    }

    @Test
    void resultsThatComeLaterCanBeRead() {
        assertThat(invocable(Result.class, "good")).accepts(hints);
    }

    @Test
    void beansThatExpressionsAskCanBeCalled() {
        assertThat(invocable(Tenants.class, "of")).accepts(hints);
    }

    @Test
    void argumentsThatNoExpressionReadsAreLeftOut() {
        assertThat(invocable(Unseen.class, "name")).rejects(hints);
    }

    private static Predicate<RuntimeHints> invocable(Class<?> type, String method) {
        return RuntimeHintsPredicates.reflection().onMethodInvocation(type, method);
    }
}
