package dev.ratelimit.annotation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The annotation on beans of an application that has no web. */
class RateLimitedTest {

    private static final Subject NOBODY = Subject.of("call", "anyone");

    private ConfigurableApplicationContext application;
    private Jobs jobs;
    private Mailer mailer;

    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited("two")
    @interface Seldom {}

    static class Jobs {

        @RateLimited("two")
        public String plain() {
            return "done";
        }

        @RateLimited(limit = "two", key = "#tenant")
        public String byTenant(String tenant) {
            return tenant;
        }

        @RateLimited(limit = "apart", key = "#name", countWhen = "#result == 'bad'")
        @RateLimited(limit = "two", key = "'all'")
        public String apart(String name) {
            return name;
        }

        @RateLimited(limit = "ten", cost = "#pages * 2")
        public int print(int pages) {
            return pages;
        }

        @RateLimited(limit = "two", cost = "#bytes / 1000.0")
        public int upload(int bytes) {
            return bytes;
        }

        @RateLimited("two")
        @RateLimited("ten")
        public void both() {}

        @Seldom
        public void meta() {}

        @RateLimited(limit = "two", countWhen = "#result == 'bad'")
        public String guess(String word) {
            return word;
        }

        @RateLimited(limit = "two", countWhen = "#result == 'bad'", resetWhen = "#result == 'good'")
        public String guessUntilRight(String word) {
            return word;
        }

        @RateLimited(limit = "two", countWhen = "#result.charAt(99) != null")
        public String mistaken() {
            return "fine";
        }

        @RateLimited(limit = "two", countWhen = "#status == 401")
        public void byStatus() {}

        @RateLimited(limit = "two", countWhen = "#statusOk")
        public void byArgument(boolean statusOk) {}

        @RateLimited(limit = "queue", countWhen = "#result == 'bad'")
        @RateLimited(limit = "two")
        public String queued() {
            return "good";
        }

        @RateLimited(limit = "two", countWhen = "#exception != null")
        public void fail(boolean fail) {
            if (fail) {
                throw new IllegalStateException("failed");
            }
        }

        @RateLimited(limit = "two", countWhen = "#result == 'bad'")
        public CompletionStage<String> later(CompletableFuture<String> result) {
            return result;
        }

        @RateLimited(limit = "two", countWhen = "#result == 'bad'")
        public Task task() {
            return new Task();
        }

        @RateLimited(limit = "two", countWhen = "#result == 'bad'")
        public Callable<String> whenCalled(String word) {
            return () -> word;
        }

        @RateLimited(limit = "two", key = "#list[0]")
        public void byFirst(List<String> list) {}

        @RateLimited(limit = "two", onFailure = FailurePolicy.CLOSED)
        @RateLimited(limit = "ten", onFailure = FailurePolicy.OPEN)
        public void closedThenOpen() {}

        @RateLimited(limit = "two", onFailure = FailurePolicy.OPEN)
        @RateLimited(limit = "ten", onFailure = FailurePolicy.CLOSED)
        public void openThenClosed() {}

        @RateLimited(limit = "two", onFailure = FailurePolicy.OPEN)
        @RateLimited(limit = "ten")
        public void openThenDefault() {}
    }

    /** A future of a type of its own. */
    static class Task extends CompletableFuture<String> {}

    @RateLimited("two")
    static class Mailer {

        public void send() {}

        @Override
        public String toString() {
            return "mailer";
        }

        @RateLimitExempt
        public void ping() {}
    }

    static class Base {

        public void hello() {}
    }

    @RateLimited("two")
    static class Strict extends Base {}

    @RateLimited("ten")
    static class Lenient extends Base {}

    static final class FragileStore extends ForwardingLimitStore {

        private volatile boolean failing;

        FragileStore() {
            super(new MemoryLimitStore());
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            if (failing) {
                throw new LimitStoreException("on fire", new IllegalStateException("on fire"));
            }
            return super.decide(group);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        FragileStore store() {
            return new FragileStore();
        }

        @Bean
        Limits limits() {
            return Limits.of(
                    Limit.named("two")
                            .algorithm(new FixedWindow(2, Duration.ofDays(365)))
                            .build(),
                    Limit.named("ten")
                            .algorithm(new TokenBucket(10, Rate.of(1, Duration.ofDays(365))))
                            .build(),
                    Limit.named("apart")
                            .algorithm(new TokenBucket(10, Rate.of(1, Duration.ofDays(365))))
                            .minInterval(Duration.ofHours(1))
                            .build(),
                    Limit.named("queue")
                            .algorithm(LeakyBucket.queue(Rate.of(1, Duration.ofHours(1)), Duration.ofHours(5)))
                            .build());
        }

        @Bean
        Jobs jobs() {
            return new Jobs();
        }

        @Bean
        Strict strict() {
            return new Strict();
        }

        @Bean
        Lenient lenient() {
            return new Lenient();
        }

        @Bean
        Mailer mailer() {
            return new Mailer();
        }
    }

    @BeforeEach
    void start() {
        SpringApplication spring = new SpringApplication(Application.class);
        spring.setWebApplicationType(WebApplicationType.NONE);
        application = spring.run(
                "--spring.main.banner-mode=off",
                "--ratelimit.store.deadline=10s",
                "--spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
        jobs = application.getBean(Jobs.class);
        mailer = application.getBean(Mailer.class);
    }

    @AfterEach
    void stop() {
        application.close();
    }

    @Test
    void callThatTheSecondLimitDeniesLeavesNoTraceOnTheFirst() {
        jobs.apart("alice");
        jobs.apart("bob");
        assertThatThrownBy(() -> jobs.apart("carol")).hasMessageStartingWith("limit 'two' is used up for 'key:all'");
        application.getBean(RateLimiter.class).reset(Subject.of("key", "all"), "two");

        assertThat(jobs.apart("carol")).isEqualTo("carol");
        assertThatThrownBy(() -> jobs.apart("alice"))
                .hasMessageStartingWith("limit 'apart' has a min-interval that is not over for 'key:alice'");
    }

    @Test
    void callThatIsDeniedThrowsWithTheDecision() {
        jobs.plain();
        jobs.plain();

        assertThatThrownBy(jobs::plain)
                .isInstanceOf(RateLimitExceededException.class)
                .hasMessageStartingWith("limit 'two' is used up for 'call:anyone'; try again in")
                .satisfies(e -> assertThat(
                                ((RateLimitExceededException) e).decision().remaining())
                        .isZero());
    }

    @Test
    void keyIsAnExpressionOverTheArguments() {
        jobs.byTenant("a");
        jobs.byTenant("a");
        assertThatThrownBy(() -> jobs.byTenant("a")).isInstanceOf(RateLimitExceededException.class);
        assertThat(jobs.byTenant("b")).isEqualTo("b");
    }

    @Test
    void costIsAnExpressionOverTheArguments() {
        assertThat(jobs.print(4)).isEqualTo(4);
        assertThatThrownBy(() -> jobs.print(2)).isInstanceOf(RateLimitExceededException.class);
        assertThat(jobs.print(1)).isEqualTo(1);
    }

    @Test
    void callThatCostsNothingPassesThoughTheLimitIsUsedUp() {
        jobs.print(5);
        assertThatThrownBy(() -> jobs.print(1)).isInstanceOf(RateLimitExceededException.class);

        assertThat(jobs.print(0)).isZero();
    }

    @Test
    void fractionOfACostIsRoundedUp() {
        jobs.upload(1);
        jobs.upload(1000);

        assertThatThrownBy(() -> jobs.upload(1)).isInstanceOf(RateLimitExceededException.class);
        assertThat(jobs.upload(0)).isZero();
    }

    @Test
    void costBelowZeroIsChargedAsTheUsualCost() {
        assertThat(jobs.print(-1)).isEqualTo(-1);

        assertThatThrownBy(() -> jobs.print(5)).isInstanceOf(RateLimitExceededException.class);
        assertThat(jobs.print(4)).isEqualTo(4);
    }

    @Test
    void costAboveWhatTheLimitCanGrantTakesAllOfIt() {
        assertThat(jobs.print(6)).isEqualTo(6);

        assertThatThrownBy(() -> jobs.print(1)).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void callsWhoseKeyFailsShareOneCount() {
        jobs.byFirst(List.of());
        jobs.byFirst(List.of());

        assertThatThrownBy(() -> jobs.byFirst(List.of())).hasMessageContaining("'call:anyone'");
        jobs.byFirst(List.of("a"));
    }

    @Test
    void annotationThatIsClosedDecidesForAllWhenTheStoreFails() {
        application.getBean(FragileStore.class).failing = true;

        assertThatThrownBy(jobs::closedThenOpen).isInstanceOf(RateLimitExceededException.class);
        assertThatThrownBy(jobs::openThenClosed).isInstanceOf(RateLimitExceededException.class);
        jobs.openThenDefault();
    }

    @Test
    void whatEveryObjectHasIsNotLimitedWithItsClass() {
        for (int i = 0; i < 5; i++) {
            assertThat(mailer.toString()).isEqualTo("mailer");
        }
        mailer.send();
    }

    @Test
    void severalAnnotationsAreDecidedAllOrNothing() {
        jobs.print(4);
        jobs.both();
        jobs.both();
        assertThatThrownBy(jobs::both).isInstanceOf(RateLimitExceededException.class);
        assertThatThrownBy(jobs::plain).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void annotationOfAnAnnotationApplies() {
        jobs.meta();
        jobs.meta();
        assertThatThrownBy(jobs::meta).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void annotationOnAClassAppliesToItsMethodsButThoseThatAreExempt() {
        mailer.send();
        mailer.send();
        assertThatThrownBy(mailer::send).isInstanceOf(RateLimitExceededException.class);
        mailer.ping();
    }

    @Test
    void limitsOfOneClassAreNotThoseOfAnotherWithTheSameMethod() {
        Strict strict = application.getBean(Strict.class);
        application.getBean(Lenient.class).hello();

        strict.hello();
        strict.hello();
        assertThatThrownBy(strict::hello).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void callWithoutAResponseCountsIfOnlyAStatusCouldSayOtherwise() {
        jobs.byStatus();
        jobs.byStatus();
        assertThatThrownBy(jobs::byStatus).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void variableWhoseNameOnlyBeginsLikeTheStatusIsSettledAtOnce() {
        for (int i = 0; i < 5; i++) {
            jobs.byArgument(false);
        }
        jobs.byArgument(true);
        jobs.byArgument(true);
        assertThatThrownBy(() -> jobs.byArgument(false)).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    @Timeout(30)
    void callThatALaterLimitDeniesDoesNotWaitForItsTurnBefore() {
        RateLimiter limiter = application.getBean(RateLimiter.class);
        limiter.decide(NOBODY, "queue");
        jobs.plain();
        jobs.plain();

        assertThatThrownBy(jobs::queued).isInstanceOf(RateLimitExceededException.class);

        assertThat(limiter.peek(NOBODY, "queue").remaining()).isEqualTo(5);
    }

    @Test
    void callThatIsInterruptedWhileItWaitsLeavesNoReservationBehind() throws Exception {
        RateLimiter limiter = application.getBean(RateLimiter.class);
        limiter.decide(NOBODY, "queue");
        CompletableFuture<String> call = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                call.complete(jobs.queued());
            } catch (RuntimeException e) {
                call.completeExceptionally(e);
            }
        });
        caller.start();
        Awaitility.await()
                .until(() -> caller.getState() == Thread.State.TIMED_WAITING
                        && limiter.peek(NOBODY, "two").remaining() == 1);

        caller.interrupt();

        assertThatThrownBy(call::join).hasRootCauseInstanceOf(InterruptedException.class);
        assertThat(limiter.peek(NOBODY, "queue").remaining()).isEqualTo(5);
    }

    @Test
    void callCountsWhenItsResultSaysSo() {
        for (int i = 0; i < 5; i++) {
            jobs.guess("good");
        }
        jobs.guess("bad");
        jobs.guess("bad");
        assertThatThrownBy(() -> jobs.guess("good")).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void successMakesTheLimitForget() {
        for (int i = 0; i < 5; i++) {
            jobs.guessUntilRight("bad");
            jobs.guessUntilRight("good");
        }
        jobs.guessUntilRight("bad");
        jobs.guessUntilRight("bad");
        assertThatThrownBy(() -> jobs.guessUntilRight("good")).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void mistakeInAnExpressionCountsAndDoesNotHarmTheCall() {
        assertThat(jobs.mistaken()).isEqualTo("fine");
        assertThat(jobs.mistaken()).isEqualTo("fine");
        assertThatThrownBy(jobs::mistaken).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void callCountsWhenItFails() {
        for (int i = 0; i < 5; i++) {
            jobs.fail(false);
        }
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> jobs.fail(true)).isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(() -> jobs.fail(false)).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void resultThatComesLaterIsSettledWhenItComes() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> second = new CompletableFuture<>();
        jobs.later(first);
        jobs.later(second);
        assertThatThrownBy(() -> jobs.later(new CompletableFuture<>())).isInstanceOf(RateLimitExceededException.class);

        first.complete("good");

        jobs.later(new CompletableFuture<>());
        assertThatThrownBy(() -> jobs.later(new CompletableFuture<>())).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void futureIsTheOneThatTheMethodReturned() {
        CompletableFuture<String> result = new CompletableFuture<>();

        assertThat(jobs.later(result)).isSameAs(result);
        assertThat(jobs.task()).isInstanceOf(Task.class);
    }

    @Test
    void futureThatIsCancelledIsSettled() {
        jobs.later(new CompletableFuture<>());
        jobs.later(new CompletableFuture<>()).toCompletableFuture().cancel(true);

        jobs.later(new CompletableFuture<>());
    }

    @Test
    void resultThatIsCalledForIsSettledWhenItIsThere() throws Exception {
        Callable<String> first = jobs.whenCalled("good");
        jobs.whenCalled("bad").call();
        assertThatThrownBy(() -> jobs.whenCalled("good")).isInstanceOf(RateLimitExceededException.class);

        assertThat(first.call()).isEqualTo("good");

        jobs.whenCalled("bad");
    }
}
