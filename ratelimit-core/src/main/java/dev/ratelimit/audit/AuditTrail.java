package dev.ratelimit.audit;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.AuditEntry.Cause;
import dev.ratelimit.audit.report.AuditEntry.Exchange;
import dev.ratelimit.audit.report.AuditEntry.Sender;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Collects the rows of the audit trail.
 *
 * <ol>
 *   <li>The thread of a request adds it to its part of the waiting rows ({@link Stripes}). Equal denials become one row,
 *       with the first path as an example if no handler was reached.
 *   <li>If too many rows wait, denials become one row for each limit, rule and decision, and allowed requests are dropped.
 *       Both are counted. No thread of a request ever waits for the database.
 *   <li>Every second the waiting rows are written together. If that fails, the same rows are written again: they have their
 *       ids, so none is stored twice.
 * </ol>
 */
final class AuditTrail implements DecisionListener {

    static final int MOST_ENDPOINT = 500;
    private static final int MOST_METHOD = 10;
    static final int MOST_NAME = 200;

    /** In one statement. */
    private static final int ROWS_AT_ONCE = 1_000;

    private final AuditSettings settings;
    private final InstantSource clock;
    private final Stripes<WaitingEntries> stripes;
    private final LongAdder dropped = new LongAdder();
    private final LongAdder merged = new LongAdder();
    private final AtomicLong waiting = new AtomicLong();

    /** Rows that were taken and are not written. Used by the writing thread only. */
    private final List<AuditEntry> unwritten = new ArrayList<>();

    AuditTrail(AuditSettings settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
        this.stripes = new Stripes<>(WaitingEntries::new);
    }

    @Override
    public void recorded(RequestRecord request) {
        AuditDecision decision = AuditDecision.of(request);
        if (isWanted(decision)) {
            add(decision, request);
        }
    }

    private boolean isWanted(AuditDecision decision) {
        return switch (settings.mode()) {
            case OFF -> false;
            case DENIED -> decision.isNoteworthy();
            case SAMPLED ->
                decision.isNoteworthy() || ThreadLocalRandom.current().nextDouble() < settings.sampleRate();
            case ALL -> true;
        };
    }

    private void add(AuditDecision decision, RequestRecord request) {
        WaitingEntries.Kind kind = new WaitingEntries.Kind(
                decision, sender(request), exchange(request), isHandled(request), cause(request));
        long atMicros = Micros.of(clock.instant());
        long latencyMicros = Micros.of(request.took());
        boolean full = waiting.get() >= settings.capacity();
        if (full && !decision.isNoteworthy()) {
            dropped.increment();
            return;
        }
        stripes.add(part -> {
            int rows = part.size();
            if (!decision.isNoteworthy()) {
                part.add(kind, atMicros, latencyMicros);
            } else if (part.merge(kind, full, atMicros, latencyMicros)) {
                merged.increment();
            }
            if (part.size() > rows) {
                waiting.incrementAndGet();
            }
        });
    }

    private static Sender sender(RequestRecord request) {
        RequestRecord.Exchange exchange = request.exchange();
        return exchange == null
                ? Sender.NOBODY
                : new Sender(
                        ColumnValues.text(exchange.user(), MOST_NAME),
                        ColumnValues.text(exchange.apiKey(), MOST_NAME),
                        ColumnValues.text(exchange.address(), MOST_NAME));
    }

    private static boolean isHandled(RequestRecord request) {
        RequestRecord.Exchange exchange = request.exchange();
        return exchange != null && exchange.endpoint() != null;
    }

    private static Exchange exchange(RequestRecord request) {
        RequestRecord.Exchange exchange = request.exchange();
        return exchange == null
                ? Exchange.NO_EXCHANGE
                : new Exchange(
                        ColumnValues.text(exchange.method(), MOST_METHOD),
                        ColumnValues.text(
                                exchange.endpoint() == null ? exchange.path() : exchange.endpoint(), MOST_ENDPOINT),
                        exchange.status());
    }

    private static Cause cause(RequestRecord request) {
        LimitDecision tightest = request.tightest();
        Duration told = request.retryAfter().isZero() ? null : request.retryAfter();
        boolean local = request.decidedLocally();
        if (tightest == null || (!request.allowed() && tightest.allowed())) {
            // A rule or an account blocked it, or no limit answered.
            return new Cause(request.rule(), request.ruleVersion(), null, null, 0, 0, told, local);
        }
        long capacity = tightest.limit().capacity();
        return new Cause(
                request.rule(),
                request.ruleVersion(),
                tightest.limit().name(),
                tightest.subject().text(),
                Math.max(0, capacity - tightest.remaining()),
                capacity,
                told,
                local);
    }

    /** Writes the waiting rows. If that fails, they are written the next time. Called by one thread at a time. */
    void write(AuditDatabase database) {
        writeTaken(database);
        WaitingEntries taken = new WaitingEntries();
        int rows = 0;
        for (WaitingEntries part : stripes.drain()) {
            rows += part.size();
            taken.add(part);
        }
        unwritten.addAll(taken.entries(settings.origin()));
        waiting.addAndGet(unwritten.size() - rows);
        writeTaken(database);
    }

    private void writeTaken(AuditDatabase database) {
        while (!unwritten.isEmpty()) {
            List<AuditEntry> first = unwritten.subList(0, Math.min(ROWS_AT_ONCE, unwritten.size()));
            AuditDatabase.writeAccepted(List.copyOf(first), database::add)
                    .forEach(refused -> dropped.add(refused.requests()));
            waiting.addAndGet(-first.size());
            first.clear();
        }
    }

    /** The number of rows that wait to be written. */
    long waiting() {
        return waiting.get();
    }

    /** The number of requests that were not written: too many rows were waiting, or the database refused their row. */
    long dropped() {
        return dropped.sum();
    }

    /** The number of denials that were written without their sender, since too many rows were waiting. */
    long merged() {
        return merged.sum();
    }
}
