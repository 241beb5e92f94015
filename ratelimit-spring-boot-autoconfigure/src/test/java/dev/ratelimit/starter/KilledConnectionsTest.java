package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import dev.ratelimit.connection.PoolStatus;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** The database ends all connections of two instances under load, again and again, as it does when it is restarted. */
@Timeout(180)
class KilledConnectionsTest {

    private static final Logger log = LoggerFactory.getLogger(KilledConnectionsTest.class);

    private static final int THREADS = 8;
    private static final int KILLS = 10;
    private static final Duration BETWEEN_KILLS = Duration.ofSeconds(1);

    private static final int LIMIT = 100;

    /** More than the limit, so that each subject uses it up. */
    private static final int DECISIONS_FOR_A_SUBJECT = 150;

    private static final int STORE_POOL = 4;

    /** Connections for limits and rules: one listens, and there are three at most. */
    private static final int OTHER_POOL = 3;

    private static final Duration SOON = Duration.ofMinutes(1);

    private final String schema = TestPostgres.instance().freshSchema();
    private final JdbcTemplate database =
            new JdbcTemplate(TestPostgres.instance().dataSource());

    private ConfigurableApplicationContext start(String name) {
        return new SpringApplicationBuilder(RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.main.banner-mode=off",
                        "--ratelimit.store.postgresql.url="
                                + TestPostgres.instance().jdbcUrl() + "&ApplicationName=" + schema + name,
                        "--ratelimit.store.postgresql.schema=" + schema,
                        "--ratelimit.store.postgresql.pool-size=" + STORE_POOL,
                        "--ratelimit.limits.calls.algorithm=fixed-window",
                        "--ratelimit.limits.calls.max-requests=" + LIMIT,
                        "--ratelimit.limits.calls.window=3660d");
    }

    private int connections(String name) {
        return number("SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + schema + name + "'");
    }

    private int kill() {
        return number("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE '"
                + schema + "%'");
    }

    private int number(String query) {
        Integer number = database.queryForObject(query, Integer.class);
        return number == null ? 0 : number;
    }

    /** Threads that ask two instances in turn, and count the answers. */
    private static final class Load {

        private final List<RateLimiter> instances;
        private final ConcurrentHashMap<Integer, AtomicInteger> admitted = new ConcurrentHashMap<>();
        private final AtomicInteger decided = new AtomicInteger();
        private final AtomicInteger denied = new AtomicInteger();
        private final AtomicInteger failed = new AtomicInteger();
        private volatile boolean over;

        private Load(List<RateLimiter> instances) {
            this.instances = instances;
        }

        private void run() {
            for (int i = 0; !over; i++) {
                int subject = decided.get() / DECISIONS_FOR_A_SUBJECT;
                ask(subject, instances.get(i % instances.size()));
            }
        }

        private void ask(int subject, RateLimiter limiter) {
            LimitRequest request =
                    LimitRequest.of(Subject.user("u" + subject), "calls").onFailure(FailurePolicy.CLOSED);
            switch (limiter.decide(request).outcome()) {
                case ALLOWED -> {
                    admitted.computeIfAbsent(subject, unused -> new AtomicInteger())
                            .incrementAndGet();
                    decided.incrementAndGet();
                }
                case THROTTLED -> {
                    denied.incrementAndGet();
                    decided.incrementAndGet();
                }
                default -> {
                    failed.incrementAndGet();
                    LockSupport.parkNanos(1_000_000);
                }
            }
        }
    }

    @Test
    void nobodyIsAdmittedBeyondTheLimitAndNoConnectionIsLost() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (ConfigurableApplicationContext first = start("_first");
                ConfigurableApplicationContext second = start("_second")) {
            Load load = new Load(List.of(first.getBean(RateLimiter.class), second.getBean(RateLimiter.class)));
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                running.add(threads.submit(load::run));
            }
            for (int i = 0; i < KILLS; i++) {
                awaitDecisions(load);
                Thread.sleep(BETWEEN_KILLS.toMillis());
                assertThat(kill()).isGreaterThanOrEqualTo(STORE_POOL);
            }
            awaitDecisions(load);
            load.over = true;
            for (Future<?> one : running) {
                one.get(1, TimeUnit.MINUTES); // fails if anything was thrown
            }

            log.info("decided {}, of these denied {}, failed {}", load.decided, load.denied, load.failed);
            assertThat(load.failed).hasPositiveValue();
            assertThat(load.denied).hasPositiveValue();
            assertNobodyBeyondTheLimit(load.admitted);
            for (String name : List.of("_first", "_second")) {
                await().atMost(SOON)
                        .untilAsserted(
                                () -> assertThat(connections(name)).isBetween(STORE_POOL + 1, STORE_POOL + OTHER_POOL));
            }
            for (ConfigurableApplicationContext context : List.of(first, second)) {
                await().atMost(SOON)
                        .untilAsserted(() ->
                                assertThat(status(context)).isEqualTo(new PoolStatus(0, STORE_POOL, 0, STORE_POOL)));
            }
        } finally {
            threads.shutdownNow();
        }
        await().atMost(SOON).until(() -> connections("_first") + connections("_second") == 0);
    }

    private static void awaitDecisions(Load load) {
        int before = load.decided.get();
        await().atMost(SOON)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> load.decided.get() > before + DECISIONS_FOR_A_SUBJECT);
    }

    private static PoolStatus status(ConfigurableApplicationContext context) {
        return PoolStatus.of(context.getBean(LimitStore.class));
    }

    /** A reply may have been lost: then more is counted than was admitted, and never the other way round. */
    private void assertNobodyBeyondTheLimit(Map<Integer, AtomicInteger> admitted) {
        Map<String, Integer> counted = new HashMap<>();
        for (Map<String, Object> row :
                database.queryForList("SELECT user_id, request_count FROM " + schema + ".rate_limits")) {
            counted.put((String) row.get("user_id"), ((Number) row.get("request_count")).intValue());
        }
        admitted.forEach(
                (subject, count) -> assertThat(counted.get("user:u" + subject)).isBetween(count.get(), LIMIT));
        assertThat(admitted).hasSizeGreaterThan(KILLS);
    }
}
