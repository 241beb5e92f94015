package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.setting.InvalidSettingException;
import java.time.Duration;

/**
 * Settings of the audit trail and of totals.
 *
 * @param totals whether to write totals for each minute, hour and day
 * @param sampleRate the share of allowed requests that {@link AuditMode#SAMPLED} writes, from 0 to 1
 * @param origin the name of this instance, and its region
 * @param capacity how many rows of the audit trail may wait to be written. If they are more, denials are written as one row for
 *     each limit and rule, and allowed requests are dropped and counted
 * @param busiestSubjects how many subjects get totals of their own in a minute, an hour or a day though no request of theirs was
 *     denied
 * @param subjects says which client an address stands for, as for counts
 * @param interval the time between two writes of the audit trail; totals are written every five of them
 */
public record AuditSettings(
        AuditMode mode,
        boolean totals,
        double sampleRate,
        AuditEntry.Origin origin,
        int capacity,
        int busiestSubjects,
        Subjects subjects,
        Duration interval) {

    private static final int IPV6_PREFIX = 64;
    private static final int LEAST_CAPACITY = 100;
    private static final int MOST_CAPACITY = 1_000_000;
    private static final int MOST_BUSIEST = 1_000;

    public AuditSettings {
        if (!(sampleRate >= 0 && sampleRate <= 1)) {
            throw new InvalidSettingException("sample-rate", sampleRate, "write a share from 0 to 1, such as 0.01");
        }
        if (capacity < LEAST_CAPACITY || capacity > MOST_CAPACITY) {
            throw new InvalidSettingException(
                    "capacity", capacity, "write a number from " + LEAST_CAPACITY + " to " + MOST_CAPACITY);
        }
        if (busiestSubjects < 0 || busiestSubjects > MOST_BUSIEST) {
            throw new InvalidSettingException(
                    "busiest-subjects", busiestSubjects, "write a number from 0 to " + MOST_BUSIEST);
        }
        if (interval.toMillis() < 10 || interval.compareTo(Duration.ofMinutes(1)) > 0) {
            throw new InvalidSettingException("interval", interval, "write a time from 10ms to 1m, such as 1s");
        }
    }

    /** Denials, at most 10,000 of them waiting, written every second. */
    public static AuditSettings of(AuditMode mode, AuditEntry.Origin origin) {
        return new AuditSettings(
                mode, true, 0.01, origin, 10_000, 100, new Subjects(IPV6_PREFIX), Duration.ofSeconds(1));
    }
}
