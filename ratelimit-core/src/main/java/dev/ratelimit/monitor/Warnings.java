package dev.ratelimit.monitor;

import dev.ratelimit.engine.EngineStatus;
import dev.ratelimit.monitor.Warning.Kind;
import dev.ratelimit.setting.Durations;
import dev.ratelimit.support.LogText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The conditions that an operator should look at. This is the one place that defines them; the alerts of
 * {@code docs/monitoring/alerts.yml} are the same conditions over all instances.
 *
 * <p>An instance sees its own requests only. A penalty is seen by all instances that share the store. Thread-safe.
 */
public final class Warnings {

    /** The minutes that are recent, beside the one that has begun. */
    private static final int RECENT = 5;

    /** The hour before them. */
    private static final int HOUR = 60;

    /** A share of fewer requests says nothing. */
    private static final long LEAST_REQUESTS = 100;

    private final Monitor monitor;
    private final Supplier<@Nullable EngineStatus> engine;
    private final Thresholds thresholds;

    /**
     * @param engine the state of the limiter; {@code null} if it is not ours
     */
    public Warnings(Monitor monitor, Supplier<@Nullable EngineStatus> engine, Thresholds thresholds) {
        this.monitor = monitor;
        this.engine = engine;
        this.thresholds = thresholds;
    }

    /** The conditions that hold now, the most urgent first. Reads memory only. */
    public List<Warning> current() {
        List<Warning> found = new ArrayList<>();
        long now = monitor.now();
        EngineStatus status = engine.get();
        if (status != null) {
            addStore(found, status);
            addQueue(found, status.queue());
        }
        addFailures(found, now);
        addAudit(found, now);
        monitor.traffic().forEach((limit, traffic) -> {
            addUsersHurt(found, limit, traffic, now);
            addOffenders(found, limit, traffic, now);
            addSurge(found, limit, traffic, now);
        });
        addPenalties(found, now);
        addRetention(found);
        found.sort(Comparator.comparing(Warning::kind).thenComparing(Warning::sentence));
        return found;
    }

    private static void addStore(List<Warning> found, EngineStatus status) {
        if (!status.store().available()) {
            found.add(general(
                    Kind.STORE_FAILING,
                    "The store has been unavailable for "
                            + status.store().unavailableFor().toSeconds() + " s, and on-failure decides: "
                            + LogText.of(status.store().reason())));
        }
    }

    private void addFailures(List<Warning> found, long now) {
        long all = monitor.decisions().last(RECENT, now);
        long failed = monitor.failures().last(RECENT, now);
        if (all >= LEAST_REQUESTS && failed * 100 >= all * thresholds.failedPercent()) {
            found.add(general(
                    Kind.STORE_FAILING,
                    "The store did not decide " + failed + " of " + all + " requests in the last " + RECENT
                            + " minutes."));
        }
    }

    private void addQueue(List<Warning> found, EngineStatus.Queue queue) {
        if (queue.waiting() * 100L >= (long) queue.capacity() * thresholds.queuePercent()) {
            found.add(general(
                    Kind.QUEUE_FILLING,
                    queue.waiting() + " requests wait for the store; at most " + queue.capacity() + " may."));
        }
    }

    private void addAudit(List<Warning> found, long now) {
        long lost = monitor.dropped().last(RECENT, now);
        if (lost > 0) {
            found.add(general(
                    Kind.AUDIT_DROPPING,
                    "The audit trail lost or merged " + lost + " entries in the last " + RECENT + " minutes."));
        }
        long minutes = monitor.droppedTotals().last(RECENT, now);
        if (minutes > 0) {
            found.add(general(
                    Kind.AUDIT_DROPPING,
                    "The totals of " + Durations.count(minutes, "minute") + " were lost in the last " + RECENT
                            + " minutes."));
        }
        String failure = monitor.auditFailure();
        if (failure != null) {
            found.add(general(
                    Kind.AUDIT_FAILING,
                    "The audit trail or totals cannot be written, and wait in memory: " + LogText.of(failure)));
        }
        String ofSums = monitor.sumsFailure();
        if (ofSums != null) {
            found.add(general(
                    Kind.TOTALS_FAILING,
                    "Totals of minutes are written, but cannot be summed up to hours and days: " + LogText.of(ofSums)));
        }
    }

    private void addRetention(List<Warning> found) {
        monitor.retentionFailures().forEach(failure -> found.add(general(Kind.RETENTION_FAILING, LogText.of(failure))));
    }

    private void addUsersHurt(List<Warning> found, String limit, LimitTraffic traffic, long now) {
        for (Map.Entry<String, LimitTraffic.OfRule> rule : traffic.rules().entrySet()) {
            long asked = rule.getValue().asked(RECENT, now);
            long denied = rule.getValue().denied(RECENT, now);
            if (asked < LEAST_REQUESTS || denied * 100 < asked * thresholds.deniedPercent()) {
                continue;
            }
            long subjects = rule.getValue().deniedSubjects(now);
            if (subjects >= thresholds.deniedSubjects()) {
                found.add(new Warning(
                        Kind.USERS_HURT,
                        limit,
                        rule.getKey(),
                        "Limit " + LogText.of(limit) + " denied " + denied * 100 / asked + " % of the requests "
                                + (rule.getKey().equals(LimitTraffic.NO_RULE)
                                        ? "without a rule, such as failed logins,"
                                        : "of rule " + LogText.of(rule.getKey()))
                                + " in the last " + RECENT + " minutes, to about "
                                + subjects
                                + " subjects: it may be too tight for ordinary users."));
            }
        }
    }

    private void addOffenders(List<Warning> found, String limit, LimitTraffic traffic, long now) {
        long subjects = traffic.deniedSubjects(now);
        if (subjects >= thresholds.offenders()) {
            found.add(new Warning(
                    Kind.MANY_OFFENDERS,
                    limit,
                    null,
                    "Limit " + LogText.of(limit) + " denied about " + subjects
                            + " different subjects in the last minute."));
        }
    }

    private void addSurge(List<Warning> found, String limit, LimitTraffic traffic, long now) {
        long recent = traffic.violations().last(RECENT, now);
        long before = traffic.violations().sum(RECENT + 1, RECENT + HOUR, now) * RECENT / HOUR;
        if (recent >= thresholds.violations() && recent >= thresholds.riseFactor() * before) {
            found.add(new Warning(
                    Kind.VIOLATION_SURGE,
                    limit,
                    null,
                    "Limit " + LogText.of(limit) + " was exceeded " + recent + " times in the last " + RECENT
                            + " minutes; in the hour before, " + before + " times in " + RECENT
                            + " minutes on average."));
        }
    }

    private void addPenalties(List<Warning> found, long now) {
        long active = monitor.penalties().total();
        long before = monitor.penalties().anHourAgo(now);
        if (active >= thresholds.penalties() && active >= thresholds.riseFactor() * before) {
            found.add(general(
                    Kind.PENALTIES_RISING,
                    String.format(Locale.ROOT, "%,d penalties are active; an hour ago, %,d were.", active, before)));
        }
    }

    /** A warning that is about no limit. */
    private static Warning general(Kind kind, String sentence) {
        return new Warning(kind, null, null, sentence);
    }
}
