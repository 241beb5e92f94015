package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.PenaltyAdmin.Penalty;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

/** Counts in one database, limits and rules in another. */
class PolicyStoreTest {

    private static final Map<String, String> TWO_PER_HOUR =
            Map.of("algorithm", "fixed-window", "max-requests", "2", "window", "1h");

    @TempDir
    Path folder;

    private final String schema = TestPostgres.instance().freshSchema();
    private final JdbcTemplate postgres =
            new JdbcTemplate(TestPostgres.instance().dataSource());

    private ApplicationContextRunner application(String file) {
        return new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.store.postgresql.url="
                                + TestPostgres.instance().jdbcUrl(),
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.store.sqlite.path=" + folder.resolve(file),
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.calls.algorithm=fixed-window",
                        "ratelimit.limits.calls.max-requests=10",
                        "ratelimit.limits.calls.window=1h",
                        "ratelimit.limits.calls.penalties[0].after=1",
                        "ratelimit.limits.calls.penalties[0].block=1d");
    }

    @Test
    void machinesCountInFilesAndFollowTheLimitsInPostgres() {
        ApplicationContextRunner first = application("first.db")
                .withPropertyValues("ratelimit.store.type=sqlite", "ratelimit.policy.store=postgresql");
        ApplicationContextRunner second = application("second.db")
                .withPropertyValues("ratelimit.store.type=sqlite", "ratelimit.policy.store=postgresql");
        first.run(one -> second.run(two -> {
            assertThat(one).hasSingleBean(SqliteLimitStore.class);
            one.getBean(RateLimitAdmin.class).limits().set("calls", TWO_PER_HOUR, Change.by("ops"));

            Limits followed = two.getBean(Limits.class);
            await().until(() -> followed.get("calls").capacity() == 2);
            RateLimiter limiter = two.getBean(RateLimiter.class);
            assertThat(limiter.decide(Subject.user("alice"), "calls").remaining())
                    .isEqualTo(1);
            assertThat(one.getBean(RateLimiter.class)
                            .decide(Subject.user("alice"), "calls")
                            .remaining())
                    .as("the other file")
                    .isEqualTo(1);
        }));
        assertThat(rows("rate_limits")).isZero();
        assertThat(rows("rate_limit_configs")).isEqualTo(1);
    }

    @Test
    void penaltiesAreReadWhereTheyAreCounted() {
        application("counts.db")
                .withPropertyValues("ratelimit.store.type=sqlite", "ratelimit.policy.store=postgresql")
                .run(context -> {
                    RateLimiter limiter = context.getBean(RateLimiter.class);
                    for (int i = 0; i < 11; i++) {
                        limiter.decide(Subject.user("mallory"), "calls");
                    }
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    assertThat(admin.penalties().list())
                            .extracting(Penalty::subject)
                            .containsExactly("user:mallory");

                    assertThat(admin.penalties().clear(Subject.user("mallory"), "calls", Change.by("ops")))
                            .isTrue();
                    assertThat(admin.penalties().list()).isEmpty();
                    assertThat(limiter.decide(Subject.user("mallory"), "calls").outcome())
                            .isEqualTo(Outcome.ALLOWED);
                });
    }

    @Test
    void countsInPostgresWithLimitsInAFile() {
        application("policies.db")
                .withPropertyValues("ratelimit.store.type=postgresql", "ratelimit.policy.store=sqlite")
                .run(context -> {
                    context.getBean(RateLimitAdmin.class).limits().set("calls", TWO_PER_HOUR, Change.by("ops"));
                    assertThat(context.getBean(RateLimiter.class)
                                    .decide(Subject.user("alice"), "calls")
                                    .remaining())
                            .isEqualTo(1);
                });
        assertThat(rows("rate_limits WHERE algorithm <> ''")).isEqualTo(1); // the warm-up leaves empty ones
        assertThat(rows("rate_limit_configs")).isZero();
    }

    @Test
    void limitsOfADatabaseBesideAStoreInMemoryOrOfTheApplication() {
        ApplicationContextRunner stored =
                application("unused.db").withPropertyValues("ratelimit.policy.store=postgresql");
        stored.withPropertyValues("ratelimit.store.type=memory").run(context -> {
            context.getBean(RateLimitAdmin.class).limits().set("calls", TWO_PER_HOUR, Change.by("ops"));
            assertThatThrownBy(() ->
                            context.getBean(RateLimitAdmin.class).penalties().list())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("cannot be listed with this store");
        });
        stored.withBean("own", LimitStore.class, MemoryLimitStore::new)
                .run(context -> assertThat(
                                context.getBean(Limits.class).get("calls").capacity())
                        .isEqualTo(2));
        assertThat(folder.resolve("unused.db")).doesNotExist();
    }

    private long rows(String table) {
        return postgres.queryForObject("SELECT count(*) FROM " + schema + "." + table, Long.class);
    }
}
