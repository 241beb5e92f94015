package dev.ratelimit.archive;

import dev.ratelimit.audit.retention.AuditArchive;
import dev.ratelimit.audit.retention.Retention;
import java.time.InstantSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/** Archives the audit trail as Parquet files, where {@code ratelimit.audit.archive.location} says where. */
@AutoConfiguration
public final class RateLimitArchiveAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitArchiveAutoConfiguration.class);

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty(ArchiveLocation.PROPERTY)
    AuditArchive rateLimitAuditArchive(Environment environment) {
        return ParquetArchive.at(
                ArchiveLocation.path(environment.getRequiredProperty(ArchiveLocation.PROPERTY)),
                InstantSource.system(),
                environment.getProperty("ratelimit.audit.server-id", environment.getProperty("HOSTNAME", "unknown")));
    }

    /** Also where beans are made only when they are needed. */
    @Bean
    @Lazy(false)
    SmartInitializingSingleton rateLimitArchiveCheck(
            ObjectProvider<AuditArchive> archives, ObjectProvider<Retention> retentions) {
        return () -> {
            AuditArchive archive = archives.getIfAvailable();
            if (archive == null) {
                log.warn(
                        "ratelimit-archive archives nothing, since {} is not set: old audit rows are dropped without an archive."
                                + " Name a folder there, or remove ratelimit-archive",
                        ArchiveLocation.PROPERTY);
            } else if (retentions.getIfAvailable() == null) {
                log.warn("Archiving nothing in {}, since this application keeps no audit trail in a database", archive);
            } else {
                log.info("Archiving the audit trail in {}", archive);
                warnIfItCannotBeWritten(archive);
            }
        };
    }

    /** Otherwise it would be noticed when a month ends. No reason not to start: months stay until they are archived. */
    private static void warnIfItCannotBeWritten(AuditArchive archive) {
        String problem = archive instanceof ParquetArchive parquet ? parquet.problemOfWriting() : null;
        if (problem != null) {
            log.warn(
                    "Could not write archives to {} ({}): {}. Old months stay in the database until that works; let this user"
                            + " write there, or name another folder",
                    archive,
                    ArchiveLocation.PROPERTY,
                    problem);
        }
    }
}
