package dev.ratelimit.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.audit.retention.AuditArchive;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.autoconfigure.RateLimitAuditAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitMonitoringAutoConfiguration;
import dev.ratelimit.monitor.Warning;
import dev.ratelimit.monitor.Warnings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The messages of an application with this module at startup. */
@ExtendWith(OutputCaptureExtension.class)
class ArchiveConfigurationTest {

    @TempDir
    Path folder;

    private ApplicationContextRunner application(Class<?>... more) {
        return new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitAuditAutoConfiguration.class))
                .withConfiguration(AutoConfigurations.of(more))
                .withPropertyValues("ratelimit.store.sqlite.path=" + folder.resolve("limits.db"));
    }

    private ApplicationContextRunner withModule() {
        return application(RateLimitArchiveAutoConfiguration.class);
    }

    private String location() {
        return "ratelimit.audit.archive.location=" + folder.resolve("archive");
    }

    @Test
    void archivesAreWrittenToTheLocation(CapturedOutput output) {
        withModule().withPropertyValues(location()).run(context -> {
            assertThat(context).hasSingleBean(Retention.class);
            assertThat(context.getBean(AuditArchive.class)).isInstanceOf(ParquetArchive.class);
            assertThat(context.getBean(Retention.class).plan().isEmpty()).isTrue();
            assertThat(output).contains("Archiving the audit trail in " + folder.resolve("archive"));
        });
    }

    @Test
    void locationThatCannotBeWrittenIsNamedAtStartup(CapturedOutput output) throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "not a folder");
        withModule()
                .withPropertyValues("ratelimit.audit.archive.location=" + file.resolve("archive"))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(output)
                            .contains("Could not write archives to " + file.resolve("archive")
                                    + " (ratelimit.audit.archive.location): " + file + " is not a folder");
                });
    }

    @Test
    void monthThatCannotBeArchivedIsAWarningForOperators() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "not a folder");
        application(RateLimitArchiveAutoConfiguration.class, RateLimitMonitoringAutoConfiguration.class)
                .withPropertyValues("ratelimit.audit.archive.location=" + file.resolve("archive"))
                .run(context -> {
                    Warnings warnings = context.getBean(Warnings.class);
                    assertThat(warnings.current()).isEmpty();
                    addOldAuditRow();

                    context.getBean(Retention.class).run();

                    assertThat(warnings.current()).singleElement().satisfies(warning -> {
                        assertThat(warning.kind()).isEqualTo(Warning.Kind.RETENTION_FAILING);
                        assertThat(warning.sentence())
                                .contains(
                                        "Could not drop", "could not write the archive of 2001-02", "make room there");
                    });
                });
    }

    private void addOldAuditRow() throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("limits-audit.db"));
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "INSERT INTO rate_limit_audit_logs (logged_at, log_id, decision, latency_micros, server_id, region)"
                            + " VALUES (981158400000000, '7d444840-9dc0-11d1-b245-5ffdce74fad2', 'throttled', 1,"
                            + " 'server-1', '')");
        }
    }

    @Test
    void moduleWithoutALocationSaysSo(CapturedOutput output) {
        withModule().run(context -> {
            assertThat(context).hasNotFailed().doesNotHaveBean(AuditArchive.class);
            assertThat(output)
                    .contains("ratelimit-archive archives nothing, since ratelimit.audit.archive.location is not set");
        });
    }

    @Test
    void locationWithoutTheModuleIsRefused() {
        application()
                .withPropertyValues(location())
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("ratelimit.audit.archive.location")
                        .hasMessageContaining("add the dependency dev.ratelimit:ratelimit-archive"));
    }

    @Test
    void locationWithoutADatabaseSaysSo(CapturedOutput output) {
        withModule()
                .withPropertyValues(location(), "ratelimit.store.type=memory")
                .run(context -> assertThat(output).contains("Archiving nothing in " + folder.resolve("archive")));
    }

    @Test
    void locationThatCannotBeUsedIsNamedWithItsRemedy() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "x");
        assertThatStartIsRefused(file.toString(), "name a folder: this is a file");
        assertThatStartIsRefused("nothing://bucket/audit", "add a library with a java.nio.file provider");
        assertThatStartIsRefused(" ", "name a folder, such as");
    }

    private void assertThatStartIsRefused(String location, String advice) {
        withModule()
                .withPropertyValues("ratelimit.audit.archive.location=" + location)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("ratelimit.audit.archive.location")
                        .hasMessageContaining(advice));
    }

    @Test
    void archivesThatEndBeforeTheRowsAreRefused() {
        withModule()
                .withPropertyValues(location(), "ratelimit.audit.archive.keep=30d")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining(
                                "ratelimit.audit.archive.keep is '30d'; write a longer time than keep (90d)"));
    }
}
