package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitMonitoringAutoConfiguration;
import dev.ratelimit.event.AddressBlockedEvent;
import dev.ratelimit.event.AddressUnblockedEvent;
import dev.ratelimit.event.LimitChangedEvent;
import dev.ratelimit.event.LimitExceededEvent;
import dev.ratelimit.event.PenaltyBegunEvent;
import dev.ratelimit.event.RateLimitEvent;
import dev.ratelimit.event.RuleChangedEvent;
import dev.ratelimit.event.StoreLostEvent;
import dev.ratelimit.event.StoreRegainedEvent;
import dev.ratelimit.event.SubjectResetEvent;
import dev.ratelimit.event.UserBlockedEvent;
import dev.ratelimit.event.UserUnblockedEvent;
import dev.ratelimit.event.publisher.EventPublisher;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.Steering;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.starter.FailingStoreTest.SickStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** The application events, on the instance that caused them and on others. */
@Timeout(120)
class EventsTest {

    private static final String[] LIMITS = {
        "ratelimit.store.deadline=10s",
        "ratelimit.changes.poll-interval=20ms",
        "ratelimit.limits.login.algorithm=fixed-window",
        "ratelimit.limits.login.max-requests=1",
        "ratelimit.limits.login.window=3660d",
        "ratelimit.limits.login.penalties[0].after=2",
        "ratelimit.limits.login.penalties[0].block=5m"
    };

    static final class Events {

        final List<RateLimitEvent> all = new CopyOnWriteArrayList<>();
        volatile CountDownLatch held = new CountDownLatch(0);

        @EventListener
        void on(RateLimitEvent event) throws InterruptedException {
            held.await();
            all.add(event);
        }

        <E extends RateLimitEvent> E next(Class<E> kind) {
            await().atMost(Duration.ofSeconds(30)).until(() -> all.stream().anyMatch(kind::isInstance));
            E found = all.stream()
                    .filter(kind::isInstance)
                    .map(kind::cast)
                    .findFirst()
                    .orElseThrow();
            all.clear();
            return found;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(excludeName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
    static class Application {}

    @TempDir
    private Path directory;

    private WebApplicationContextRunner instance() {
        return new WebApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withBean(Events.class)
                .withPropertyValues(LIMITS)
                .withPropertyValues(
                        "ratelimit.store.type=sqlite",
                        "ratelimit.store.sqlite.path=" + directory.resolve("ratelimit.db"));
    }

    @Test
    void aViolationAndThePenaltyThatFollowsAreEvents() {
        instance().run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            Events events = context.getBean(Events.class);
            Subject mallory = Subject.user("mallory");
            limiter.decide(mallory, "login");
            limiter.decide(mallory, "login");

            LimitExceededEvent violation = events.next(LimitExceededEvent.class);
            assertThat(violation.limit()).isEqualTo("login");
            assertThat(violation.subject()).isEqualTo(mallory);
            assertThat(violation.retryAfter()).isPositive();

            limiter.decide(mallory, "login");
            PenaltyBegunEvent penalty = events.next(PenaltyBegunEvent.class);
            assertThat(penalty.subject()).isEqualTo(mallory);
            assertThat(Duration.between(penalty.at(), penalty.until())).isEqualTo(Duration.ofMinutes(5));

            limiter.decide(mallory, "login");
            context.getBean(RateLimitAdmin.class).penalties().clear(mallory, "login", Change.by("ops"));
            assertThat(events.next(SubjectResetEvent.class).subject()).isEqualTo(mallory);
            assertThat(events.all)
                    .as("a request under a penalty is no violation")
                    .isEmpty();
        });
    }

    @Test
    void changesAreEventsOnEveryInstance() {
        instance()
                .run(one -> instance().run(other -> {
                    RateLimitAdmin admin = one.getBean(RateLimitAdmin.class);
                    Instant until = Instant.now().plus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.MILLIS);
                    admin.limits()
                            .set(
                                    "login",
                                    Map.of("algorithm", "fixed-window", "max-requests", "9", "window", "1h"),
                                    Change.by("ops").because("launch").until(until));
                    for (var instance : List.of(one, other)) {
                        assertThat(instance.getBean(Events.class).next(LimitChangedEvent.class))
                                .isEqualTo(new LimitChangedEvent("login", 1, "ops", "launch", until));
                    }

                    admin.limits().remove("login", Change.by("ops"));
                    for (var instance : List.of(one, other)) {
                        assertThat(instance.getBean(Events.class)
                                        .next(LimitChangedEvent.class)
                                        .version())
                                .isNull();
                    }

                    admin.quotas()
                            .block("mallory", Change.by("ops").because("abuse").until(until));
                    for (var instance : List.of(one, other)) {
                        assertThat(instance.getBean(Events.class).next(UserBlockedEvent.class))
                                .isEqualTo(new UserBlockedEvent("mallory", until, "abuse"));
                    }

                    admin.quotas().unblock("mallory", Change.by("ops"));
                    for (var instance : List.of(one, other)) {
                        assertThat(instance.getBean(Events.class).next(UserUnblockedEvent.class))
                                .isEqualTo(new UserUnblockedEvent("mallory"));
                    }
                }));
    }

    @Test
    void changesOfRulesAndBlocksOfAddressesAreEventsOnEveryInstance() {
        instance()
                .run(one -> instance().run(other -> {
                    RateLimitAdmin admin = one.getBean(RateLimitAdmin.class);
                    Instant until = Instant.now().plus(1, ChronoUnit.HOURS).truncatedTo(ChronoUnit.MILLIS);
                    Rule rule = Rule.named("logins").limits("login").build();
                    admin.rules().set(rule, Change.by("ops").because("launch").until(until));
                    for (var instance : List.of(one, other)) {
                        assertThat(instance.getBean(Events.class).next(RuleChangedEvent.class))
                                .isEqualTo(new RuleChangedEvent("logins", 1, "ops", "launch", until));
                    }
                    admin.rules().remove("logins", Change.by("ops"));
                    for (var instance : List.of(one, other)) {
                        assertThat(instance.getBean(Events.class).next(RuleChangedEvent.class))
                                .isEqualTo(new RuleChangedEvent("logins", null, null, null, null));
                    }

                    Steering ops = one.getBean(Operations.class).steer("ops", "an attack");
                    ops.blockAddress("203.0.113.0/24", until);
                    for (var instance : List.of(one, other)) {
                        assertThat(instance.getBean(Events.class).next(AddressBlockedEvent.class))
                                .isEqualTo(new AddressBlockedEvent("203.0.113.0/24", until, "ops", "an attack"));
                    }
                    ops.unblockAddress("203.0.113.0/24");
                    for (var instance : List.of(one, other)) {
                        assertThat(instance.getBean(Events.class).next(AddressUnblockedEvent.class))
                                .isEqualTo(new AddressUnblockedEvent("203.0.113.0/24"));
                    }
                }));
    }

    @Test
    void changesThatApplyAtStartupAreNoEvents() {
        instance().run(one -> {
            one.getBean(RateLimitAdmin.class).limits().disable("login", Change.by("ops"));
            one.getBean(Events.class).next(LimitChangedEvent.class);

            instance().run(late -> {
                late.getBean(RateLimitAdmin.class).limits().enable("login", Change.by("ops"));
                assertThat(late.getBean(Events.class)
                                .next(LimitChangedEvent.class)
                                .version())
                        .as("that of the configuration")
                        .isNull();
            });
        });
    }

    @Test
    void aStoreThatIsLostAndRegainedIsAnEvent() {
        memory().withBean(SickStore.class).run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            Events events = context.getBean(Events.class);
            SickStore store = context.getBean(SickStore.class);
            store.failing = true;
            limiter.decide(Subject.user("alice"), "login");
            assertThat(events.next(StoreLostEvent.class).reason()).contains("on fire");

            store.failing = false;
            AtomicInteger number = new AtomicInteger();
            await().atMost(Duration.ofSeconds(30)).until(() -> {
                // Not the same again: its denial is cached, and the store is not asked.
                limiter.decide(Subject.user("user" + number.incrementAndGet()), "login");
                return events.all.stream().anyMatch(StoreRegainedEvent.class::isInstance);
            });
        });
    }

    @Test
    void aListenerThatHangsDelaysNoRequest() {
        memory().run(context -> {
            Events events = context.getBean(Events.class);
            events.held = new CountDownLatch(1);
            RateLimiter limiter = context.getBean(RateLimiter.class);
            // More than the queue holds: without it, none of these would return.
            for (int i = 0; i < 12_000; i++) {
                limiter.decide(Subject.user("user" + i % 6_000), "login");
            }
            for (int i = 0; i < 6_000; i++) {
                limiter.decide(Subject.user("user" + i), "login");
            }
            EventPublisher publisher = context.getBean(EventPublisher.class);
            assertThat(publisher.dropped()).isPositive();
            publisher.storeLost("on fire");
            events.held.countDown();

            await().atMost(Duration.ofSeconds(30)).until(() -> events.all.size() >= 10_000);
            assertThat(events.all.subList(0, 2))
                    .as("not behind the violations, of which one was being published")
                    .contains(new StoreLostEvent("on fire"));
        });
    }

    private static ApplicationContextRunner memory() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class, RateLimitMonitoringAutoConfiguration.class))
                .withBean(Events.class)
                .withPropertyValues(LIMITS)
                .withPropertyValues("ratelimit.store.type=memory", "ratelimit.monitoring.log-denials=false");
    }
}
