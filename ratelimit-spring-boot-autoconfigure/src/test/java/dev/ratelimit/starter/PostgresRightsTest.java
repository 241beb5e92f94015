package dev.ratelimit.starter;

import static dev.ratelimit.starter.RestrictedRole.execute;
import static dev.ratelimit.starter.RestrictedRole.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.audit.retention.RetainedRows;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.audit.retention.RetentionPlan;
import dev.ratelimit.audit.retention.RetentionReport;
import dev.ratelimit.autoconfigure.RateLimitAuditAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import dev.ratelimit.testing.postgres.TestPostgres;
import dev.ratelimit.upkeep.Upkeep;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** The rights of the database user, and the messages if they are too few. */
@ExtendWith(OutputCaptureExtension.class)
class PostgresRightsTest {

    private static final String SUPERUSER =
            "ratelimit.store.postgresql.url=" + TestPostgres.instance().jdbcUrl();

    private static ConfigurableApplicationContext start(List<String> settings) {
        SpringApplication application = new SpringApplication(
                RateLimitAutoConfiguration.class,
                RateLimitPolicyAutoConfiguration.class,
                RateLimitAuditAutoConfiguration.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        List<String> arguments = new ArrayList<>(List.of(
                "--spring.main.banner-mode=off",
                "--ratelimit.store.deadline=10s",
                "--ratelimit.limits.login.algorithm=fixed-window",
                "--ratelimit.limits.login.max-requests=1",
                "--ratelimit.limits.login.window=1s",
                "--ratelimit.limits.login.penalties[0].after=1",
                "--ratelimit.limits.login.penalties[0].block=1h"));
        settings.forEach(setting -> arguments.add("--" + setting));
        return application.run(arguments.toArray(String[]::new));
    }

    private static void assertThatStartFails(CapturedOutput output, List<String> settings, String... expected) {
        assertThatThrownBy(() -> start(settings).close()).isInstanceOf(RuntimeException.class);

        assertThat(output.getAll())
                .contains("APPLICATION FAILED TO START")
                .contains(expected)
                .doesNotContain("\tat ", "secret");
    }

    @Test
    void documentedGrantsSufficeForPenaltiesAndPruning() {
        RestrictedRole role = RestrictedRole.create().withTables().withGrants();
        try (ConfigurableApplicationContext context = start(role.settings("ratelimit.store.migrate=false"))) {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            limiter.decide(Subject.user("alice"), "login");
            while (limiter.decide(Subject.user("alice"), "login").allowed()) {
                // the window of a second may have just ended
                continue;
            }
            assertThat(context.getBean(RateLimitAdmin.class).penalties().list()).hasSize(1);
            execute("DELETE FROM " + role.schema() + ".rate_limits WHERE algorithm = ''"); // of the warm-up
            execute("UPDATE " + role.schema() + ".rate_limits SET expires_at = 1, blocked_until = 1");
            execute("UPDATE " + role.schema() + ".rate_limit_penalties SET forget_at = 1");

            assertThat(context.getBean(Upkeep.class).run()).isEqualTo(new Upkeep.Report(1, 1, true));
        }
    }

    /** It may neither create nor drop a table itself. */
    @Test
    void documentedGrantsSufficeToDropMonthsOfTheAuditTrail() {
        RestrictedRole role = RestrictedRole.create().withTables().withGrants();
        execute("SELECT " + role.schema() + ".rate_limit_make_partitions('2001-02-03')");
        try (ConfigurableApplicationContext context = start(role.settings("ratelimit.store.migrate=false"))) {
            RetentionReport report = context.getBean(Retention.class).run();

            assertThat(report.failures()).isEmpty();
            assertThat(report.dropped())
                    .extracting(RetentionPlan.Drop::rows)
                    .containsExactly(RetainedRows.AUDIT, RetainedRows.MINUTES, RetainedRows.HOURS);
        }
        assertThat(query("SELECT tablename FROM pg_tables WHERE schemaname = '" + role.schema()
                        + "' AND tablename LIKE '%2001_02'"))
                .isEmpty();
    }

    /** A role that may only create schemas makes its own. */
    @Test
    void schemaIsCreatedByDefault() {
        RestrictedRole role = RestrictedRole.create();
        execute("GRANT CREATE ON DATABASE " + query("SELECT current_database()").get(0) + " TO " + role.name());

        start(role.settings()).close();

        assertThat(query("SELECT schema_owner FROM information_schema.schemata WHERE schema_name = '" + role.schema()
                        + "'"))
                .containsExactly(role.name());
    }

    @Test
    void userWhoMayNotCreateIsToldWhatToAskFor(CapturedOutput output) {
        RestrictedRole role = RestrictedRole.create();

        assertThatStartFails(
                output,
                role.settings(),
                "permission denied for database",
                "GRANT CREATE ON DATABASE",
                "GRANT USAGE, CREATE ON SCHEMA",
                "dev/ratelimit/schema/postgresql",
                "ratelimit.store.migrate: false");
        assertThat(query("SELECT 1 FROM pg_namespace WHERE nspname = '" + role.schema() + "'"))
                .isEmpty();
    }

    @Test
    void withoutMigrationNothingIsCreatedAndTheScriptIsNamed(CapturedOutput output) {
        RestrictedRole role = RestrictedRole.create();

        assertThatStartFails(
                output,
                role.settings("ratelimit.store.migrate=false"),
                "the PostgreSQL schema " + role.schema() + " has no tables of rate limits",
                "run dev/ratelimit/schema/postgresql/V1__rate_limits.sql",
                "ratelimit.store.migrate: true");
        assertThat(query("SELECT 1 FROM pg_namespace WHERE nspname = '" + role.schema() + "'"))
                .isEmpty();
    }

    @Test
    void grantThatWasForgottenIsNamed(CapturedOutput output) {
        RestrictedRole role = RestrictedRole.create().withTables().withGrants();
        execute("REVOKE INSERT ON " + role.schema() + ".rate_limit_rules FROM " + role.name());

        assertThatStartFails(
                output,
                role.settings("ratelimit.store.migrate=false"),
                "the database user lacks INSERT on rate_limit_rules",
                "dev/ratelimit/schema/postgresql/grants.sql");
    }

    @Test
    void grantOfAFunctionThatWasForgottenIsNamed(CapturedOutput output) {
        RestrictedRole role = RestrictedRole.create().withTables().withGrants();
        execute("REVOKE EXECUTE ON FUNCTION " + role.schema() + ".rate_limit_make_partitions(date) FROM "
                + role.name());

        assertThatStartFails(
                output,
                role.settings("ratelimit.store.migrate=false"),
                "the database user lacks EXECUTE on rate_limit_make_partitions",
                "dev/ratelimit/schema/postgresql/grants.sql");
    }

    /** By default nobody looks at the rights of a schema that is current. */
    @Test
    void functionsThatCannotBeCalledAreNamedAtTheStart(CapturedOutput output) {
        RestrictedRole role = RestrictedRole.create().withTables().withGrants();
        execute("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA " + role.schema() + " FROM " + role.name());
        try (ConfigurableApplicationContext context = start(role.settings())) {
            Awaitility.await()
                    .untilAsserted(
                            () -> assertThat(output.getAll())
                                    .contains(
                                            "The database user may not execute rate_limit_drop_partition and"
                                                    + " rate_limit_make_partitions, so months of the audit trail cannot be made or dropped"));
        }
    }

    @Test
    void allGrantsForgottenIsSaid(CapturedOutput output) {
        RestrictedRole role = RestrictedRole.create().withTables();

        assertThatStartFails(
                output,
                role.settings("ratelimit.store.migrate=false"),
                "permission denied",
                "grants.sql lets this user");
    }

    @Test
    void tableInTheWayIsNamedAndNothingIsChanged(CapturedOutput output) {
        String schema = TestPostgres.instance().freshSchema();
        execute("CREATE SCHEMA " + schema);
        execute("CREATE TABLE " + schema + ".api_keys (mine text)");

        assertThatStartFails(
                output,
                List.of(SUPERUSER, "ratelimit.store.postgresql.schema=" + schema),
                "relation \"api_keys\" already exists",
                "Set ratelimit.store.postgresql.schema to a schema of its own");
        assertThat(query("SELECT tablename FROM pg_tables WHERE schemaname = '" + schema + "'"))
                .containsExactly("api_keys");
    }

    @Test
    void newerSchemaIsRefused(CapturedOutput output) {
        RestrictedRole role = RestrictedRole.create().withTables();
        execute("INSERT INTO " + role.schema()
                + ".ratelimit_schema_history (version, script) VALUES (99, 'V99__new.sql')");

        assertThatStartFails(
                output,
                List.of(SUPERUSER, "ratelimit.store.postgresql.schema=" + role.schema()),
                "is at version 99, but this library supports versions up to 1",
                "Upgrade this application");
    }

    @Test
    void missingDriverIsNamed(CapturedOutput output) {
        assertThatStartFails(
                output,
                List.of("ratelimit.store.postgresql.url=jdbc:nothing://localhost/app?password=secret"),
                "the class path has no JDBC driver for jdbc:nothing",
                "org.postgresql:postgresql");
    }

    @Test
    void userWhoIsNotAdmittedIsNotTakenForADatabaseThatIsAway(CapturedOutput output) {
        assertThatStartFails(
                output,
                List.of("ratelimit.store.postgresql.url="
                        + TestPostgres.instance().jdbcUrl().replaceAll("user=[^&]*", "user=mallory")),
                "mallory",
                "Check the user and the password",
                "ratelimit.store.postgresql.username");
    }

    @Test
    void userWithoutAConnectionLeftIsToldHowManyAreNeeded(CapturedOutput output) {
        RestrictedRole role = RestrictedRole.create();
        execute("ALTER ROLE " + role.name() + " CONNECTION LIMIT 0");

        assertThatStartFails(output, role.settings(), "too many connections for role", "Allow more connections");
    }

    @Test
    void databaseThatDoesNotExistIsSaid(CapturedOutput output) {
        assertThatStartFails(
                output,
                List.of("ratelimit.store.postgresql.url="
                        + TestPostgres.instance().jdbcUrl().replaceAll("/[^/?]*\\?", "/nowhere?")),
                "database \"nowhere\" does not exist",
                "Create the database, or correct its name");
    }

    @Test
    void unknownHostIsNamed(CapturedOutput output) {
        assertThatStartFails(
                output,
                List.of("ratelimit.store.postgresql.url=jdbc:postgresql://db.invalid/app"),
                "PostgreSQL cannot be reached (unknown host db.invalid)",
                "ratelimit.store.postgresql.url");
    }

    @Test
    void unreachableDatabaseIsSaidWithoutAStackTrace(CapturedOutput output) {
        assertThatStartFails(
                output,
                List.of("ratelimit.store.postgresql.url=jdbc:postgresql://127.0.0.1:1/app?password=secret"),
                "PostgreSQL cannot be reached",
                "ratelimit.store.required: false");
    }
}
