package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.audit.AuditMode;
import dev.ratelimit.audit.AuditSettings;
import dev.ratelimit.audit.report.AuditEntry.Origin;
import dev.ratelimit.audit.retention.RetentionSettings;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.setting.InvalidPropertyException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;

/**
 * The configuration under {@code ratelimit.audit}: the audit trail, and totals over time. Each component is one property, so it is
 * long.
 *
 * @param mode which requests are written to the audit trail; totals count all of them
 * @param totals whether to write how many requests came in each minute, hour and day
 * @param sampleRate with mode sampled, the share of allowed requests that is written, from 0 to 1
 * @param serverId the name of this instance; by default that of the host
 * @param region the region this instance runs in
 * @param capacity how many rows may wait to be written; beyond that, denials are merged and allowed requests are dropped
 * @param busiestSubjects how many subjects get totals of their own in a minute, an hour or a day though they were not denied
 * @param interval the time between two writes
 * @param sqlitePath the SQLite file of the audit trail; by default beside that of the counts
 * @param keep how long the audit trail is kept in the database; a month is dropped when its end is that long ago
 * @param keepMinutes how long totals per minute are kept
 * @param keepHours how long totals per hour are kept
 * @param keepDays how long totals per day are kept
 * @param archive where the audit trail goes when it is dropped from the database
 */
public record AuditProperties(
        @DefaultValue("denied") AuditMode mode,
        @DefaultValue("true") boolean totals,
        @DefaultValue("0.01") double sampleRate,
        @Nullable String serverId,
        @DefaultValue("") String region,
        @DefaultValue("10000") int capacity,
        @DefaultValue("100") int busiestSubjects,
        @DefaultValue("1s") Duration interval,
        @Nullable String sqlitePath,
        @DefaultValue("90d") Duration keep,
        @DefaultValue("31d") Duration keepMinutes,
        @DefaultValue("400d") Duration keepHours,
        @DefaultValue("2557d") Duration keepDays,
        @DefaultValue Archive archive) {

    /**
     * Archives of the audit trail.
     *
     * @param location a folder, or a URI of a java.nio file system; needs the module ratelimit-archive
     * @param keep how long archives are kept
     */
    public record Archive(
            @Nullable String location,
            @DefaultValue("2557d") Duration keep) {}

    private static final String PREFIX = "ratelimit.audit.";
    private static final int LONGEST_SERVER = 100;
    private static final int LONGEST_REGION = 50;

    /**
     * @param subjects says which client an address stands for
     */
    public AuditSettings settings(Environment environment, Subjects subjects) {
        String server = serverId == null ? hostName(environment) : serverId;
        requireShort("server-id", server, LONGEST_SERVER);
        requireShort("region", region, LONGEST_REGION);
        return InvalidPropertyException.under(
                PREFIX,
                () -> new AuditSettings(
                        mode,
                        totals,
                        sampleRate,
                        new Origin(server, region),
                        capacity,
                        busiestSubjects,
                        subjects,
                        interval));
    }

    public RetentionSettings retention() {
        return InvalidPropertyException.under(
                PREFIX, () -> new RetentionSettings(keep, keepMinutes, keepHours, keepDays, archive.keep()));
    }

    /** Archives are asked for, but nothing can write them. */
    public InvalidPropertyException archivesMissing() {
        return new InvalidPropertyException(
                PREFIX + "archive.location",
                archive.location(),
                "add the dependency dev.ratelimit:ratelimit-archive, which writes archives, or remove the property");
    }

    private static void requireShort(String property, String value, int longest) {
        if (value.length() > longest) {
            throw new InvalidPropertyException(PREFIX + property, value, "write at most " + longest + " characters");
        }
    }

    /** From the environment if possible: asking the network may take seconds. */
    private static String hostName(Environment environment) {
        String name = environment.getProperty("HOSTNAME", environment.getProperty("COMPUTERNAME", ""));
        if (!name.isBlank()) {
            return name.length() <= LONGEST_SERVER ? name : name.substring(0, LONGEST_SERVER);
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "process-" + ProcessHandle.current().pid();
        }
    }
}
