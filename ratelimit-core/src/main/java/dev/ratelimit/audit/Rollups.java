package dev.ratelimit.audit;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Subject;
import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts requests by minute.
 *
 * <ol>
 *   <li>The thread of a request adds it to its part of the totals ({@link Stripes}).
 *   <li>Every few seconds the parts are collected into the totals of their minute, and these are written: each row replaces the
 *       one that this start of the instance has written before. So a write that is repeated changes nothing, and an instance
 *       that dies loses at most the requests since its last write.
 *   <li>A minute that is over and written is forgotten. While the database is unavailable, the last 60 minutes with requests are
 *       kept, none of them for longer than a day. The others are dropped and counted.
 * </ol>
 */
final class Rollups implements DecisionListener {

    private static final long MINUTE_MICROS = TimeUnit.MINUTES.toMicros(1);

    private static final int MOST_UNWRITTEN_MINUTES = 60;

    /** Minutes of that age are in the database for certain, and so hours can be summed up again: see {@link TotalsSums}. */
    private static final long OLDEST_UNWRITTEN_MICROS = TimeUnit.DAYS.toMicros(1);

    private final AuditSettings settings;
    private final String instance;
    private final InstantSource clock;
    private final CacheUse caches;
    private final Stripes<List<MinuteTotals>> stripes = new Stripes<>(ArrayList::new);

    /** Totals of unfinished or unwritten minutes. Used by the writing thread only. */
    private final TreeMap<Long, MinuteTotals> minutes = new TreeMap<>();

    private final LongAdder droppedMinutes = new LongAdder();
    private long firstOpenMinute = Long.MIN_VALUE;
    private long collectedAt = Long.MIN_VALUE;

    /** The first minute that was written since the last sums. */
    private long firstWritten = Long.MAX_VALUE;

    private long hitsSeen;
    private long missesSeen;

    /**
     * @param instance one start of an instance
     */
    Rollups(AuditSettings settings, String instance, InstantSource clock, CacheUse caches) {
        this.settings = settings;
        this.instance = instance;
        this.clock = clock;
        this.caches = caches;
    }

    @Override
    public void recorded(RequestRecord request) {
        // The clock is read under the lock of the part, so that a part has the requests of a minute in one place.
        stripes.add(part -> {
            long now = now();
            add(request, now, minuteOf(part, now));
        });
    }

    /** Counted under the name of the trial, such as {@code api:candidate}. */
    @Override
    public void trialDecided(LimitDecision decision) {
        TotalsKey key =
                new TotalsKey(decision.limit().name(), decision.subject().text(), "");
        stripes.add(part -> {
            long now = now();
            minuteOf(part, now).add(key, AuditDecision.of(decision.outcome(), decision.allowed()), now);
        });
    }

    private long now() {
        return Micros.of(clock.instant());
    }

    private static long minute(long micros) {
        return micros - Math.floorMod(micros, MINUTE_MICROS);
    }

    private static MinuteTotals minuteOf(List<MinuteTotals> part, long now) {
        long minute = minute(now);
        MinuteTotals last = part.isEmpty() ? null : part.get(part.size() - 1);
        if (last == null || last.minuteMicros() != minute) {
            last = new MinuteTotals(minute);
            part.add(last);
        }
        return last;
    }

    private void add(RequestRecord request, long now, MinuteTotals totals) {
        RequestRecord.Exchange exchange = request.exchange();
        String pattern = exchange == null ? null : ColumnValues.text(exchange.endpoint(), AuditTrail.MOST_ENDPOINT);
        String endpoint = pattern == null ? "" : pattern;
        for (int i = 0; i < request.asked().size(); i++) {
            RequestRecord.Asked asked = request.asked().get(i);
            add(asked, endpoint, now, totals);
        }
        totals.add(new TotalsKey("", deniedSender(request), endpoint), AuditDecision.of(request), now);
        // A request that no limit was asked for, such as an exempt one, would make decisions look faster than they are.
        if (!request.asked().isEmpty()) {
            totals.addLatency(
                    endpoint, TimeUnit.NANOSECONDS.toMicros(request.took().toNanos()));
        }
    }

    private static void add(RequestRecord.Asked asked, String endpoint, long now, MinuteTotals totals) {
        Decision decision = asked.decision();
        if (!decision.outcome().isDecided()) {
            AuditDecision failed = AuditDecision.of(decision.outcome(), decision.allowed());
            for (LimitRequest.Item item : asked.request().items()) {
                totals.add(new TotalsKey(item.limitName(), item.subject().text(), endpoint), failed, now);
            }
            return;
        }
        for (int i = 0; i < decision.limits().size(); i++) {
            LimitDecision one = decision.limits().get(i);
            // A limit that had room was not charged if another one denied the request, or was given its charge back.
            if (asked.isCharged() || !one.allowed()) {
                totals.add(
                        new TotalsKey(one.limit().name(), one.subject().text(), endpoint),
                        AuditDecision.of(one.outcome(), one.allowed()),
                        now);
            }
        }
    }

    /** The sender of a request that was rejected without a limit, which would know its subject; otherwise empty. */
    private String deniedSender(RequestRecord request) {
        RequestRecord.Exchange exchange = request.exchange();
        if (request.allowed() || exchange == null || isDeniedByLimit(request)) {
            return "";
        }
        if (exchange.user() != null && !exchange.user().isBlank()) {
            return Subject.user(exchange.user().strip()).text();
        }
        return exchange.address() == null
                ? ""
                : settings.subjects().counted(Subject.ip(exchange.address())).text();
    }

    private static boolean isDeniedByLimit(RequestRecord request) {
        for (RequestRecord.Asked asked : request.asked()) {
            if (!asked.decision().allowed()) {
                return true;
            }
        }
        return false;
    }

    /** Writes what is collected. If that fails, it is kept for the next time. Called by one thread at a time. */
    void write(AuditDatabase database) {
        for (MinuteTotals totals : List.copyOf(minutes.values())) {
            List<TotalsRow> rows = changedRows(totals);
            if (!rows.isEmpty()) {
                totals.markSent(rows);
                boolean complete =
                        AuditDatabase.writeAccepted(rows, database::setTotals).isEmpty();
                totals.markWritten(rows);
                firstWritten = Math.min(firstWritten, totals.minuteMicros());
                if (!complete) {
                    droppedMinutes.increment();
                }
            }
            long end = totals.minuteMicros() + MINUTE_MICROS;
            if (end <= collectedAt) {
                minutes.remove(totals.minuteMicros());
                firstOpenMinute = Math.max(firstOpenMinute, end);
            }
        }
    }

    /** The start of the first minute that was written since {@link #summed}, in microseconds. */
    long firstWritten() {
        return firstWritten;
    }

    /** The written minutes are in hours and days. Minutes that are still open are written again. */
    void summed() {
        firstWritten = Long.MAX_VALUE;
    }

    /**
     * Collects what was counted until now, and perhaps a little more, and drops the oldest minutes if they are too many. Needs no
     * database, so memory is bounded without one. Called by one thread at a time.
     */
    void collect() {
        long now = now();
        for (List<MinuteTotals> part : stripes.drain()) {
            part.forEach(totals -> of(totals.minuteMicros()).add(totals));
        }
        long hits = caches.hits();
        long misses = caches.misses();
        if (hits != hitsSeen || misses != missesSeen) {
            of(minute(now)).addCache(hits - hitsSeen, misses - missesSeen, now);
            hitsSeen = hits;
            missesSeen = misses;
        }
        long oldestKept = minute(now) - OLDEST_UNWRITTEN_MICROS;
        while (minutes.size() > MOST_UNWRITTEN_MINUTES || (!minutes.isEmpty() && minutes.firstKey() < oldestKept)) {
            drop(minutes.firstEntry().getValue());
        }
        minutes.headMap(minute(now)).values().forEach(over -> over.keepRowsOnly(settings.busiestSubjects()));
        collectedAt = now;
    }

    private void drop(MinuteTotals oldest) {
        minutes.remove(oldest.minuteMicros());
        firstOpenMinute = Math.max(firstOpenMinute, oldest.minuteMicros() + MINUTE_MICROS);
        if (!changedRows(oldest).isEmpty()) {
            droppedMinutes.increment();
        }
    }

    private List<TotalsRow> changedRows(MinuteTotals totals) {
        return totals.changedRows(settings.busiestSubjects(), settings.origin().region(), instance);
    }

    /** A minute that is written for good is never begun again, whatever the clock does: that would replace its rows. */
    private MinuteTotals of(long minute) {
        return minutes.computeIfAbsent(Math.max(minute, firstOpenMinute), MinuteTotals::new);
    }

    /** The number of minutes that were not written for good: the database was unavailable for too long, or refused rows. */
    long droppedMinutes() {
        return droppedMinutes.sum();
    }
}
