package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitLimiterMetricsAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitMetricsAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitMonitoringAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitObservationAutoConfiguration;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.metrics.ObservedRateLimiter;
import dev.ratelimit.monitor.Monitor;
import dev.ratelimit.monitor.Warning;
import dev.ratelimit.monitor.Warnings;
import dev.ratelimit.starter.FailingStoreTest.SickStore;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The meters of the limiter, the observation of decisions, and the warnings. */
class MetersTest {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RateLimitAutoConfiguration.class,
                    RateLimitMonitoringAutoConfiguration.class,
                    RateLimitMetricsAutoConfiguration.class,
                    RateLimitLimiterMetricsAutoConfiguration.class,
                    RateLimitObservationAutoConfiguration.class,
                    MetricsAutoConfiguration.class,
                    ObservationAutoConfiguration.class))
            .withBean(SickStore.class)
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withPropertyValues(
                    "ratelimit.store.deadline=10s",
                    "ratelimit.limits.ten.algorithm=fixed-window",
                    "ratelimit.limits.ten.max-requests=10",
                    "ratelimit.limits.ten.window=3660d");

    private static double gauge(MeterRegistry meters, String name) {
        return meters.get(name).gauge().value();
    }

    @Test
    void requestsThatLeaveLittleAreCounted() {
        application.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            for (int i = 0; i < 8; i++) {
                limiter.decide(Subject.user("alice"), "ten");
            }
            assertThat(meters.find("ratelimit.near.limit").counter()).isNull();
            for (int i = 0; i < 5; i++) {
                limiter.decide(Subject.user("alice"), "ten");
            }
            assertThat(meters.get("ratelimit.near.limit")
                            .tag("limit", "ten")
                            .counter()
                            .count())
                    .as("the ninth and the tenth; a denied request is counted as a violation")
                    .isEqualTo(2);
        });
    }

    @Test
    void theStateOfTheLimiterIsInTheMeters() {
        application.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            for (int i = 0; i < 13; i++) {
                limiter.decide(Subject.user("alice"), "ten");
            }
            context.getBean(Monitor.class).tick();

            assertThat(gauge(meters, "ratelimit.store.available")).isEqualTo(1);
            assertThat(gauge(meters, "ratelimit.circuit.open")).isZero();
            assertThat(gauge(meters, "ratelimit.queue.waiting")).isZero();
            assertThat(gauge(meters, "ratelimit.queue.capacity")).isEqualTo(10_000);
            await().untilAsserted(() ->
                    assertThat(gauge(meters, "ratelimit.queue.groups")).isZero()); // a worker leaves after its answers
            assertThat(meters.get("ratelimit.store.calls").functionTimer().count())
                    .isEqualTo(11);
            assertThat(meters.get("ratelimit.store.calls.requests")
                            .functionCounter()
                            .count())
                    .isEqualTo(11);
            assertThat(meters.get("ratelimit.cache.requests")
                            .tags("cache", "denials", "result", "hit")
                            .functionCounter()
                            .count())
                    .isEqualTo(2);
            assertThat(meters.get("ratelimit.cache.size")
                            .tag("cache", "denials")
                            .gauge()
                            .value())
                    .isEqualTo(1);
            assertThat(meters.get("ratelimit.denied.subjects")
                            .tag("limit", "ten")
                            .gauge()
                            .value())
                    .isEqualTo(1);
            assertThat(meters.find("ratelimit.pool.connections").gauge()).isNull();

            context.getBean(SickStore.class).failing = true;
            limiter.decide(Subject.user("bob"), "ten");
            assertThat(gauge(meters, "ratelimit.store.available")).isZero();
            assertThat(context.getBean(Warnings.class).current())
                    .extracting(Warning::kind)
                    .containsExactly(Warning.Kind.STORE_FAILING);
        });
    }

    @Test
    void aMeterIsLookedUpOnce() {
        application.run(context -> {
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            int before = meters.getMeters().size();
            for (int i = 0; i < 5; i++) {
                context.getBean(RateLimiter.class).decide(Subject.user("user" + i), "ten");
            }
            assertThat(meters.getMeters()).as("one more for any caller").hasSize(before + 1);
            assertThat(context.getBeansOfType(MeterBinder.class)).hasSize(2);
        });
    }

    private static final class Seen implements ObservationHandler<Observation.Context> {

        final List<Observation.Context> stopped = new CopyOnWriteArrayList<>();

        @Override
        public void onStop(Observation.Context context) {
            stopped.add(context);
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }

    @Test
    void aDecisionIsAnObservationWithoutItsSubject() {
        application.withBean(Seen.class).run(context -> {
            assertThat(context.getBean(RateLimiter.class)).isInstanceOf(ObservedRateLimiter.class);
            RateLimiter limiter = context.getBean(RateLimiter.class);
            Seen seen = context.getBean(Seen.class);
            ObservationRegistry registry = context.getBean(ObservationRegistry.class);
            Observation request = Observation.start("http.server.requests", registry);
            request.scoped(() -> limiter.decide(Subject.user("alice"), "ten"));

            assertThat(seen.stopped).singleElement().satisfies(decision -> {
                assertThat(decision.getName()).isEqualTo("ratelimit.decision");
                assertThat(decision.getParentObservation()).isSameAs(request);
                assertThat(decision.getLowCardinalityKeyValue("limit").getValue())
                        .isEqualTo("ten");
                assertThat(decision.getLowCardinalityKeyValue("outcome").getValue())
                        .isEqualTo("allowed");
                assertThat(decision.getAllKeyValues().stream())
                        .noneMatch(value -> value.getValue().contains("alice"));
            });
            assertThat(context.getBean(MeterRegistry.class)
                            .get("ratelimit.decision")
                            .timers())
                    .as("one timer, that of the records")
                    .singleElement()
                    .satisfies(timer -> {
                        assertThat(timer.count()).isEqualTo(1);
                        assertThat(timer.getId().getTags()).isEmpty();
                    });
        });
    }

    @Test
    void withoutAHandlerThereIsNoObservation() {
        application.run(context -> {
            assertThat(context).hasSingleBean(ObservationRegistry.class).doesNotHaveBean(ObservedRateLimiter.class);
            assertThat(context.getBean(RateLimiter.class)).isInstanceOf(StoreRateLimiter.class);
        });
    }
}
