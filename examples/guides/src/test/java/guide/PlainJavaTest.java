package guide;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.caller.Tiers;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import dev.ratelimit.upkeep.Upkeep;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.web.util.pattern.PathPatternParser;

class PlainJavaTest {

    private static final Subject ALICE = Subject.user("alice");

    private static Limit limit(String name, String most) {
        return Algorithms.limit(name, Map.of("algorithm", "fixed-window", "max-requests", most, "window", "1h"));
    }

    private final StoreRateLimiter limiter = StoreRateLimiter.builder(
                    new MemoryLimitStore(),
                    Limits.of(limit("login", "1"), limit("uploads", "5"), limit("traffic", "3")))
            .build();

    @Test
    void countsSurviveTheProcess(@TempDir Path directory) {
        Path file = directory.resolve("ratelimit.db");
        for (int i = 0; i < 5; i++) {
            assertThat(PlainJava.quickstart(file).allowed()).isTrue();
        }

        assertThat(PlainJava.quickstart(file).allowed()).isFalse();
    }

    @Test
    void severalLimitsAreAllOrNothing() {
        Decision first = PlainJava.several(limiter, ALICE, Subject.ip("192.0.2.1"));
        Decision second = PlainJava.several(limiter, ALICE, Subject.ip("192.0.2.1"));

        assertThat(first.allowed()).isTrue();
        assertThat(second.allowed()).isFalse();
        assertThat(limiter.peek(ALICE, "uploads").remaining()).isEqualTo(2);
        assertThat(limiter.peek(Subject.ip("192.0.2.1"), "traffic").remaining()).isEqualTo(2);
    }

    @Test
    void onlyFailuresCount() {
        PlainJava.settle(limiter, ALICE, () -> true);
        assertThat(limiter.peek(ALICE, "login").allowed()).isTrue();

        PlainJava.settle(limiter, ALICE, () -> false);
        assertThat(limiter.peek(ALICE, "login").allowed()).isFalse();
    }

    @Test
    void decidesWithoutBlocking() {
        assertThat(PlainJava.async(limiter, ALICE).toCompletableFuture())
                .succeedsWithin(Duration.ofMinutes(1))
                .isEqualTo("welcome");
        assertThat(PlainJava.async(limiter, ALICE).toCompletableFuture())
                .succeedsWithin(Duration.ofMinutes(1))
                .isEqualTo("too many attempts");
    }

    @Test
    void upkeepRuns() {
        try (Upkeep upkeep = PlainJava.upkeep(new MemoryLimitStore())) {
            assertThat(upkeep.run().finished()).isTrue();
        }
    }

    @Test
    void policiesChangeOnPostgres() {
        DataSource dataSource = TestPostgres.instance().dataSource();
        try (StoreRateLimiter onPostgres = PlainJava.onPostgres(dataSource, Limits.of(limit("login", "1")))) {
            assertThat(onPostgres.decide(ALICE, "login").allowed()).isTrue();
            assertThat(onPostgres.decide(ALICE, "login").allowed()).isFalse();
        }
        PolicyConfiguration configuration = new PolicyConfiguration(
                Map.of("api", Map.of("algorithm", "fixed-window", "max-requests", "5", "window", "1m")),
                List.of(),
                Tiers.NONE,
                MatchMode.ALL,
                PathPatternParser.defaultInstance);

        String secret =
                PlainPolicies.change(dataSource, new PostgresLimitStore(dataSource, "ratelimit"), configuration);

        assertThat(secret).startsWith("rl_");
    }
}
