package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.audit.report.Reports.Totals;
import java.util.Objects;

/** Counts requests by how they came out. Not safe for use by many threads. */
final class Tally {

    private long allowed;
    private long throttled;
    private long blocked;
    private long exempt;
    private long failed;
    private long lastMicros;
    private long cacheHits;
    private long cacheMisses;

    /** Counts nothing yet. */
    static Tally ofNone(long lastMicros) {
        Tally none = new Tally();
        none.lastMicros = lastMicros;
        return none;
    }

    void add(AuditDecision decision, long atMicros) {
        switch (decision) {
            case ALLOWED -> allowed++;
            case THROTTLED -> throttled++;
            case BLOCKED, UNKNOWN_API_KEY -> blocked++;
            case EXEMPT -> exempt++;
            case FAILED_OPEN, FAILED_CLOSED -> failed++;
        }
        lastMicros = Math.max(lastMicros, atMicros);
    }

    void add(Tally other) {
        allowed += other.allowed;
        throttled += other.throttled;
        blocked += other.blocked;
        exempt += other.exempt;
        failed += other.failed;
        lastMicros = Math.max(lastMicros, other.lastMicros);
        cacheHits += other.cacheHits;
        cacheMisses += other.cacheMisses;
    }

    void addCache(long hits, long misses, long atMicros) {
        cacheHits += hits;
        cacheMisses += misses;
        lastMicros = Math.max(lastMicros, atMicros);
    }

    Totals totals() {
        return new Totals(total(), allowed, throttled, blocked, exempt, failed);
    }

    long total() {
        return allowed + throttled + blocked + exempt + failed;
    }

    long denied() {
        return throttled + blocked;
    }

    long lastMicros() {
        return lastMicros;
    }

    long cacheHits() {
        return cacheHits;
    }

    long cacheMisses() {
        return cacheMisses;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Tally that
                && totals().equals(that.totals())
                && lastMicros == that.lastMicros
                && cacheHits == that.cacheHits
                && cacheMisses == that.cacheMisses;
    }

    @Override
    public int hashCode() {
        return Objects.hash(totals(), lastMicros, cacheHits, cacheMisses);
    }
}
