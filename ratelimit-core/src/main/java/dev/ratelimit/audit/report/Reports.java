package dev.ratelimit.audit.report;

import dev.ratelimit.support.Keyword;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reports about requests: how many came, who sent most of them, who was denied and where. They are made from the totals that
 * every instance writes, and from the audit trail, so they are some seconds behind. Every call reads the database.
 */
public interface Reports {

    /**
     * The number of requests over time, the oldest first. Periods without requests are left out.
     *
     * @param limit the name of a limit, or {@code null} for whole requests
     * @param from the start of the first period is not before it
     */
    List<Period> timeline(@Nullable String limit, Granularity granularity, Instant from, Instant until);

    /**
     * The requests of a subject over time on each limit, the limit with the most denials first. Periods in which the subject has no
     * row of its own are left out: it was not denied, and others were busier. Limits on trial are left out, too.
     *
     * @param subject its text, see {@link dev.ratelimit.Subject#ofText}; subjects of several parts that begin with it are included
     * @param from the start of the first period is not before it
     */
    List<SubjectTimeline> timelines(String subject, Granularity granularity, Instant from, Instant until);

    /** The subjects with the most requests, the busiest first, for each limit. */
    List<SubjectTotals> busiest(Instant since, int most);

    /** The subjects that were denied most often, the most denied first. */
    List<SubjectTotals> mostDenied(Instant since, int most);

    /** The violations of each limit, the most violated first. Limits without violations are left out. */
    List<LimitViolations> violations(Instant since);

    /** The share of requests that exceeded each limit, the highest first. */
    List<ViolationRate> violationRates(Instant since);

    /** The share of requests that each limit on trial would have denied, the highest first. No other report has trials. */
    List<ViolationRate> trialRates(Instant since);

    /** Requests of the audit trail, the newest first. */
    List<AuditEntry> entries(AuditQuery query);

    /** The length of a period of totals. */
    enum Granularity {
        MINUTE(Duration.ofMinutes(1)),
        HOUR(Duration.ofHours(1)),
        DAY(Duration.ofDays(1));

        private final Duration length;

        Granularity(Duration length) {
            this.length = length;
        }

        public Duration length() {
            return length;
        }

        /** As it is stored. */
        public String keyword() {
            return Keyword.of(this);
        }
    }

    /**
     * How requests came out.
     *
     * @param blocked by a rule, an account, a penalty, or since the API key is unknown
     * @param failed requests that the store did not decide
     */
    record Totals(long total, long allowed, long throttled, long blocked, long exempt, long failed) {

        /** Throttled and blocked. */
        public long denied() {
            return throttled + blocked;
        }
    }

    /**
     * The totals of one period.
     *
     * @param decisionTime how long decisions took; {@code null} if none was taken
     */
    record Period(Instant start, Totals totals, @Nullable Percentiles decisionTime) {}

    /**
     * The requests of a subject on a limit over time.
     *
     * @param limit the name of the limit; empty for requests that were denied without one, as by a block
     * @param periods the oldest first
     */
    record SubjectTimeline(String limit, List<Period> periods) {

        public SubjectTimeline {
            periods = List.copyOf(periods);
        }

        /** The denials of all periods. */
        public long denied() {
            return periods.stream()
                    .mapToLong(period -> period.totals().denied())
                    .sum();
        }

        /** The requests of all periods. */
        public long total() {
            return periods.stream().mapToLong(period -> period.totals().total()).sum();
        }
    }

    /** Percentiles of a time. */
    record Percentiles(Duration p50, Duration p95, Duration p99) {}

    /**
     * The requests of a subject on a limit.
     *
     * @param subject the text of the subject, see {@link dev.ratelimit.Subject#ofText}
     * @param limit the name of the limit; empty for whole requests
     * @param minutes the number of minutes with requests
     */
    record SubjectTotals(String subject, String limit, Totals totals, Instant lastRequestAt, int minutes) {}

    /**
     * The violations of a limit.
     *
     * @param subjects the number of subjects that violated it, as far as they were kept
     * @param averagePerSubject rounded to two decimals
     */
    record LimitViolations(String limit, long violations, long subjects, double averagePerSubject) {}

    /**
     * The share of requests that exceeded a limit.
     *
     * @param violations requests that found the limit used up
     * @param percent violations of the total, rounded to two decimals
     * @param denied violations, and the requests that were blocked by a penalty on the limit
     */
    record ViolationRate(String limit, long total, long violations, double percent, long denied) {

        /** The denied requests of the total, rounded to two decimals. */
        public double deniedPercent() {
            return Math.round(10_000.0 * denied / total) / 100.0;
        }
    }
}
