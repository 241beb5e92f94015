package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.actuate.NoReports;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.database.CountsDatabase;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.UnavailableException;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.startup.ConfigurationFailureAnalyzer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.sqlite.Backups;
import dev.ratelimit.testing.postgres.TestPostgres;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.sqlite.SQLiteDataSource;

/** Counts in a place that a module contributes; limits, rules and the audit trail in a database, or nowhere. */
@ExtendWith(OutputCaptureExtension.class)
class CountsElsewhereTest {

    private static final String ALONE = "Taking limits and rules from the configuration alone";

    private static final Map<String, String> TWO_PER_HOUR =
            Map.of("algorithm", "fixed-window", "max-requests", "2", "window", "1h");

    @TempDir
    Path folder;

    private final String schema = TestPostgres.instance().freshSchema();

    /** In memory here, but nothing of ours knows that. */
    private record Elsewhere(boolean isConfigured) implements CountsDatabase {

        @Override
        public LimitStore open(Duration deadline, @Nullable InstantSource clock) {
            return new ElsewhereStore();
        }

        @Override
        public int groupsAtOnce() {
            return 1;
        }

        @Override
        public String toString() {
            return "Redis at localhost";
        }
    }

    private static final class ElsewhereStore extends ForwardingLimitStore {

        private ElsewhereStore() {
            super(new MemoryLimitStore());
        }
    }

    private WebApplicationContextRunner application(String... properties) {
        return new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ours()))
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withPropertyValues(
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.calls.algorithm=fixed-window",
                        "ratelimit.limits.calls.max-requests=10",
                        "ratelimit.limits.calls.window=1h",
                        "ratelimit.rules.calls.path=/api/**",
                        "ratelimit.rules.calls.key=user",
                        "ratelimit.rules.calls.limits=calls")
                .withPropertyValues(properties);
    }

    private static Class<?>[] ours() {
        return ImportCandidates.load(AutoConfiguration.class, null).getCandidates().stream()
                .filter(name -> name.startsWith("dev.ratelimit."))
                .map(CountsElsewhereTest::named)
                .toArray(Class<?>[]::new);
    }

    private static Class<?> named(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private WebApplicationContextRunner withRedis(String... properties) {
        return application(properties).withBean(CountsDatabase.class, () -> new Elsewhere(true));
    }

    private static PGSimpleDataSource postgres() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(TestPostgres.instance().jdbcUrl());
        return dataSource;
    }

    private static JdbcDataSource h2() {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setUrl("jdbc:h2:mem:elsewhere;DB_CLOSE_DELAY=-1");
        return dataSource;
    }

    private static SQLiteDataSource sqlite() {
        SQLiteDataSource dataSource = new SQLiteDataSource();
        dataSource.setUrl("jdbc:sqlite::memory:");
        return dataSource;
    }

    // Which place

    @Test
    void withoutTheModuleTheDependencyIsNamed() {
        application("ratelimit.store.type=redis").run(context -> {
            Throwable failure = context.getStartupFailure();
            assertThat(NestedExceptionUtils.getRootCause(failure)).isInstanceOf(InvalidPropertyException.class);
            assertThat(new ConfigurationFailureAnalyzer(null).analyze(failure)).satisfies(analysis -> {
                assertThat(analysis.getDescription()).contains("Property: ratelimit.store.type", "Value: 'redis'");
                assertThat(analysis.getAction()).startsWith("Add the dependency dev.ratelimit:ratelimit-redis, or ");
            });
        });
    }

    @Test
    void withoutADataSourceTheModuleIsChosenAndNoFile() {
        withRedis().run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(ElsewhereStore.class);
            assertThat(folder).isEmptyDirectory();
        });
    }

    @Test
    void moduleThatIsNotConfiguredIsNotChosen() {
        application()
                .withBean(CountsDatabase.class, () -> new Elsewhere(false))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ElsewhereStore.class));
        assertThat(folder.resolve("ratelimit.db")).exists();
    }

    @Test
    void dataSourceThatCannotBeUsedDoesNotMatter() {
        for (DataSource unusable : List.of(h2(), sqlite())) {
            withRedis()
                    .withBean(DataSource.class, () -> unusable)
                    .run(context -> assertThat(context).hasNotFailed().hasSingleBean(ElsewhereStore.class));
        }
        withRedis()
                .withBean("orders", DataSource.class, CountsElsewhereTest::postgres)
                .withBean("reports", DataSource.class, CountsElsewhereTest::h2)
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(ElsewhereStore.class));
        assertThat(folder).isEmptyDirectory();
    }

    /** A store that is chosen because a database was down for a moment would count beside the right one. */
    @Test
    void dataSourceThatDoesNotAnswerStopsTheStart() {
        JdbcDataSource down = new JdbcDataSource();
        down.setUrl("jdbc:h2:tcp://localhost:1/down");
        withRedis()
                .withBean(DataSource.class, () -> down)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .satisfies(cause -> assertThat(context.getStartupFailure())
                                .hasStackTraceContaining("could not be asked which database it leads to")));
    }

    @Test
    void postgresStaysTheChoiceAndALineTellsHowToChooseAnother(CapturedOutput output) {
        withRedis().withBean(DataSource.class, CountsElsewhereTest::postgres).run(context -> {
            assertThat(context).hasNotFailed().doesNotHaveBean(ElsewhereStore.class);
            assertThat(output)
                    .containsOnlyOnce("though Redis at localhost is there, too; to use that, set"
                            + " ratelimit.store.type: redis");
        });
        withRedis("ratelimit.store.postgresql.url=" + TestPostgres.instance().jdbcUrl())
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ElsewhereStore.class));
    }

    @Test
    void namedStoreIsTheOne() {
        withRedis("ratelimit.store.type=sqlite")
                .run(context -> assertThat(context).doesNotHaveBean(ElsewhereStore.class));
        withRedis("ratelimit.store.type=redis")
                .withBean(DataSource.class, CountsElsewhereTest::postgres)
                .run(context -> assertThat(context).hasSingleBean(ElsewhereStore.class));
    }

    // Limits and rules

    @ParameterizedTest
    @ValueSource(strings = {"url", "data source"})
    void limitsAndAuditTrailAreInPostgres(String way) {
        WebApplicationContextRunner runner = withRedis("ratelimit.store.type=redis");
        runner = way.equals("url")
                ? runner.withPropertyValues("ratelimit.store.postgresql.url="
                        + TestPostgres.instance().jdbcUrl())
                : runner.withBean(DataSource.class, CountsElsewhereTest::postgres);
        runner.run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(StoredPolicies.class);
            context.getBean(RateLimitAdmin.class).limits().set("calls", TWO_PER_HOUR, Change.by("ops"));
            assertThat(context.getBean(RateLimiter.class)
                            .decide(Subject.user("alice"), "calls")
                            .remaining())
                    .isEqualTo(1);
            context.getBean(RequestAudit.class).flush();
            assertCountsAreNotListed(context);
        });
        JdbcTemplate postgres = new JdbcTemplate(TestPostgres.instance().dataSource());
        assertThat(rows(postgres, "rate_limit_configs")).isEqualTo(1);
        assertThat(rows(postgres, "rate_limits")).isZero();
        assertThat(rows(postgres, "rate_limit_metrics")).isPositive();
        assertThat(folder).isEmptyDirectory();
    }

    private long rows(JdbcTemplate postgres, String table) {
        return postgres.queryForObject("SELECT count(*) FROM " + schema + "." + table, Long.class);
    }

    /** Nobody else would create the tables then. */
    @Test
    void auditTrailIsWrittenAlsoIfLimitsDoNotChange() {
        withRedis(
                        "ratelimit.changes.enabled=false",
                        "ratelimit.store.type=redis",
                        "ratelimit.store.postgresql.url="
                                + TestPostgres.instance().jdbcUrl())
                .run(context -> {
                    assertThat(context).hasNotFailed().doesNotHaveBean(StoredPolicies.class);
                    context.getBean(RateLimiter.class).decide(Subject.user("alice"), "calls");
                    context.getBean(RequestAudit.class).flush();
                });
        assertThat(rows(new JdbcTemplate(TestPostgres.instance().dataSource()), "rate_limit_metrics"))
                .isPositive();
    }

    @Test
    void limitsAreInAFileOnlyIfThatIsSaid() {
        withRedis("ratelimit.policy.store=sqlite").run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(ElsewhereStore.class);
            context.getBean(RateLimitAdmin.class).limits().set("calls", TWO_PER_HOUR, Change.by("ops"));
            assertThat(context.getBean(Backups.class).files()).hasSize(2);
            assertCountsAreNotListed(context);
        });
        assertThat(folder.resolve("ratelimit.db")).exists();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void withoutADatabaseLimitsComeFromTheConfiguration(boolean onH2, CapturedOutput output) {
        WebApplicationContextRunner runner =
                onH2 ? withRedis().withBean(DataSource.class, CountsElsewhereTest::h2) : withRedis();
        runner.run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(ElsewhereStore.class);
            assertThat(output).containsOnlyOnce(ALONE);
            assertThat(context.getBean(RateLimiter.class)
                            .decide(Subject.user("alice"), "calls")
                            .remaining())
                    .isEqualTo(9);
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            assertThatThrownBy(() -> admin.limits().set("calls", TWO_PER_HOUR, Change.by("ops")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("set ratelimit.policy.store to sqlite or postgresql");
            assertThat(context.getBeanProvider(ApiKeys.class).getIfAvailable()).isNull();
            assertThat(context.getBeanProvider(RequestAudit.class).getIfAvailable())
                    .isNull();
            assertThat(context.getBean(Reports.class)).isInstanceOf(NoReports.class);
            assertThat(context.getBeanProvider(Retention.class).getIfAvailable())
                    .isNull();
            assertThat(context.getBean(Operations.class).hasReports()).isFalse();
            assertThatThrownBy(() -> context.getBean(Operations.class).busiest(Duration.ofHours(1), 10))
                    .isInstanceOf(UnavailableException.class)
                    .hasMessageContaining("ratelimit.policy.store");
            assertCountsAreNotListed(context);
        });
        assertThat(folder).isEmptyDirectory();
    }

    private static void assertCountsAreNotListed(ApplicationContext context) {
        Operations operations = context.getBean(Operations.class);
        assertThatThrownBy(() -> operations.penalties(10))
                .isInstanceOf(UnavailableException.class)
                .hasMessageContaining("cannot be listed with this store");
        assertThatThrownBy(() -> operations.searchSubjects("al", 10))
                .isInstanceOf(UnavailableException.class)
                .hasMessageContaining("look up one subject by its name");
        assertThat(operations.user("alice").limits())
                .as("one subject")
                .singleElement()
                .satisfies(standing -> assertThat(standing.limit()).isEqualTo("calls"));
        assertThat(operations.status().store())
                .satisfies(store -> assertThat(store.name()).isEqualTo("Redis at localhost"));
    }

    @Test
    void everythingOfASubjectIsResetThoughItCannotBeListed() {
        withRedis("ratelimit.policy.store=sqlite").run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            limiter.decide(Subject.user("alice"), "calls");
            assertThat(context.getBean(Operations.class).steer("ops", "test").resetAll("user:alice"))
                    .containsExactly("calls");
            assertThat(limiter.decide(Subject.user("alice"), "calls").remaining())
                    .isEqualTo(9);
        });
    }

    @Test
    void apiKeysWithoutADatabaseAreRefused() {
        withRedis("ratelimit.api-keys.enabled=true")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("ratelimit.api-keys.enabled")
                        .hasStackTraceContaining("ratelimit.policy.store"));
    }
}
