package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.monitor.Thresholds;
import dev.ratelimit.setting.InvalidPropertyException;
import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The configuration under {@code ratelimit.monitoring}: metrics, log lines and warnings.
 *
 * @param nearLimitPercent an allowed request that leaves less than this share of a limit is near it
 * @param penaltiesInterval how often to count active penalties in the database
 * @param logDenials whether to log each penalty, and the denials of each limit once a minute
 * @param warnings when to warn operators
 */
public record MonitoringProperties(
        @DefaultValue("20") int nearLimitPercent,
        @DefaultValue("30s") Duration penaltiesInterval,
        @DefaultValue("true") boolean logDenials,
        @DefaultValue WarningsSpec warnings) {

    public MonitoringProperties {
        if (nearLimitPercent < 0 || nearLimitPercent > 100) {
            throw new InvalidPropertyException(
                    "ratelimit.monitoring.near-limit-percent",
                    nearLimitPercent,
                    "write a whole number from 0 to 100, such as 20");
        }
        if (penaltiesInterval.toMillis() < 1_000 || penaltiesInterval.compareTo(Duration.ofDays(1)) > 0) {
            throw new InvalidPropertyException(
                    "ratelimit.monitoring.penalties-interval",
                    penaltiesInterval,
                    "write a time from 1s to 1d, such as 30s");
        }
    }

    /**
     * When to warn operators.
     *
     * @param riseFactor how many times as many violations or penalties as before are a rise
     * @param violations fewer violations of a limit in five minutes are no surge
     * @param penalties fewer active penalties are no rise
     * @param offenders how many different subjects that one limit denies in a minute are many
     * @param deniedPercent the share of denied requests of a rule that hurts ordinary users
     * @param deniedSubjects how many different denied subjects are not only a few clients that misbehave
     * @param failedPercent the share of requests without a decision of the store that is too large
     * @param queuePercent the share of the queue that may be full
     */
    public record WarningsSpec(
            @DefaultValue("3") int riseFactor,
            @DefaultValue("100") int violations,
            @DefaultValue("20") int penalties,
            @DefaultValue("100") int offenders,
            @DefaultValue("20") int deniedPercent,
            @DefaultValue("10") int deniedSubjects,
            @DefaultValue("1") int failedPercent,
            @DefaultValue("50") int queuePercent) {

        public Thresholds thresholds() {
            return InvalidPropertyException.under(
                    "ratelimit.monitoring.warnings.",
                    () -> new Thresholds(
                            riseFactor,
                            violations,
                            penalties,
                            offenders,
                            deniedPercent,
                            deniedSubjects,
                            failedPercent,
                            queuePercent));
        }
    }
}
