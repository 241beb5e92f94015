package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.database.CountsDatabase;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.NestedExceptionUtils;

/** The move of an application from one store to another. */
@ExtendWith(OutputCaptureExtension.class)
class PreviousStoreTest {

    private static final String SQLITE = "ratelimit.store.type=sqlite";
    private static final String POSTGRESQL = "ratelimit.store.type=postgresql";
    private static final String REDIS = "ratelimit.store.type=redis";
    private static final String FROM_SQLITE = "ratelimit.store.previous.type=sqlite";
    private static final String FROM_POSTGRESQL = "ratelimit.store.previous.type=postgresql";

    private static final int MOST = 10;

    private static final Duration WINDOW = Duration.ofHours(2);

    @TempDir
    Path folder;

    private final String schema = TestPostgres.instance().freshSchema();

    /** Stands for Redis: counts that outlive the application. */
    private final LimitStore elsewhere;

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-03-02T10:00:00Z"));

    PreviousStoreTest() {
        elsewhere = new MemoryLimitStore(now::get);
    }

    private final class Elsewhere implements CountsDatabase {

        @Override
        public boolean isConfigured() {
            return false;
        }

        @Override
        public LimitStore open(Duration deadline, @Nullable InstantSource clock) {
            return new ForwardingLimitStore(elsewhere) {};
        }

        @Override
        public int groupsAtOnce() {
            return 1;
        }

        @Override
        public String toString() {
            return "Redis";
        }
    }

    private ApplicationContextRunner application(String... properties) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(CountsDatabase.class, Elsewhere::new)
                .withBean(RateLimitClocks.BEAN, InstantSource.class, () -> now::get)
                .withPropertyValues(
                        "ratelimit.store.postgresql.url="
                                + TestPostgres.instance().jdbcUrl(),
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.calls.algorithm=sliding-log",
                        "ratelimit.limits.calls.max-requests=" + MOST,
                        "ratelimit.limits.calls.window=" + WINDOW)
                .withPropertyValues(properties);
    }

    private static int admitted(ApplicationContext context, int requests) {
        RateLimiter limiter = context.getBean(RateLimiter.class);
        return (int) IntStream.range(0, requests)
                .filter(i -> limiter.decide(Subject.user("alice"), "calls").allowed())
                .count();
    }

    private int admitted(int requests, String... properties) {
        AtomicInteger admitted = new AtomicInteger();
        application(properties).run(context -> admitted.set(admitted(context, requests)));
        return admitted.get();
    }

    @ParameterizedTest
    @CsvSource({"sqlite, postgresql", "postgresql, sqlite", "postgresql, redis", "redis, postgresql"})
    void usedUpBeforeTheMoveIsUsedUpAfterIt(String before, String after) {
        String to = "ratelimit.store.type=" + after;
        assertThat(admitted(7, "ratelimit.store.type=" + before)).isEqualTo(7);

        assertThat(admitted(20, to, "ratelimit.store.previous.type=" + before)).isEqualTo(MOST - 7);
        assertThat(admitted(20, to)).as("without the previous store, too early").isEqualTo(7);
    }

    @ParameterizedTest
    @CsvSource({"sqlite, postgresql", "postgresql, redis"})
    void nobodyGetsAFreshLimitWhenThePreviousStoreIsLeftAfterOneWindow(String before, String after) {
        String to = "ratelimit.store.type=" + after;
        assertThat(admitted(7, "ratelimit.store.type=" + before)).isEqualTo(7);
        assertThat(admitted(20, to, "ratelimit.store.previous.type=" + before)).isEqualTo(MOST - 7);
        now.updateAndGet(moment -> moment.plus(WINDOW));
        assertThat(admitted(4, to, "ratelimit.store.previous.type=" + before)).isEqualTo(4);

        assertThat(admitted(20, to)).isEqualTo(MOST - 4);
    }

    /** Instances are replaced one after another: with the previous store, with both, with the current one. */
    @Test
    void instancesWithOneStoreAndWithBothNeverAdmitMoreTogether() {
        assertThat(admittedTogether(application(SQLITE), application(POSTGRESQL, FROM_SQLITE)))
                .isEqualTo(MOST);
    }

    @Test
    void instancesWithBothStoresAndWithTheCurrentOneNeverAdmitMoreTogether() {
        assertThat(admittedTogether(application(REDIS, FROM_POSTGRESQL), application(REDIS)))
                .isEqualTo(MOST);
    }

    private static int admittedTogether(ApplicationContextRunner one, ApplicationContextRunner other) {
        AtomicInteger admitted = new AtomicInteger();
        one.run(first -> other.run(second -> {
            List<RateLimiter> instances = List.of(first.getBean(RateLimiter.class), second.getBean(RateLimiter.class));
            CompletableFuture.allOf(IntStream.range(0, 60)
                            .mapToObj(i -> instances
                                    .get(i % 2)
                                    .decideAsync(LimitRequest.of(Subject.user("alice"), "calls"))
                                    .thenAccept(decision -> admitted.addAndGet(decision.allowed() ? 1 : 0)))
                            .toArray(CompletableFuture[]::new))
                    .join();
        }));
        return admitted.get();
    }

    @Test
    void startSaysHowLongToCountInBoth(CapturedOutput output) {
        admitted(1, POSTGRESQL, FROM_SQLITE, "ratelimit.limits.calls.algorithm=fixed-window");
        assertThat(output)
                .contains("Counting in the SQLite file ")
                .contains("once every instance has done so for 2h, remove ratelimit.store.previous");

        admitted(1, POSTGRESQL, FROM_SQLITE, "ratelimit.limits.calls.algorithm=sliding-window");
        assertThat(output).as("the window before counts, too").contains("done so for 4h, remove");

        admitted(
                1,
                POSTGRESQL,
                FROM_SQLITE,
                "ratelimit.limits.calls.penalties[0].after=1",
                "ratelimit.limits.calls.penalties[0].block=1d");
        assertThat(output).contains("done so for 1d, remove");
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql, postgresql, are in",
        "sqlite, sqlite, are in the SQLite file",
        "auto, postgresql, are in",
        "postgresql, memory, end with the process",
        "postgresql, auto, name the store that held the counts"
    })
    void previousStoreThatMakesNoSenseIsRefused(String type, String previous, String reason) {
        application("ratelimit.store.type=" + type, "ratelimit.store.previous.type=" + previous)
                .run(context -> assertThat(NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()))
                        .isInstanceOf(InvalidPropertyException.class)
                        .hasMessageContaining("ratelimit.store.previous.type")
                        .hasMessageContaining(previous)
                        .hasMessageContaining(reason));
    }
}
