package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.AuditEntry.Cause;
import dev.ratelimit.audit.report.AuditEntry.Exchange;
import dev.ratelimit.audit.report.AuditEntry.Origin;
import dev.ratelimit.audit.report.AuditEntry.Sender;
import dev.ratelimit.support.Micros;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rows of the audit trail that wait to be written. Not safe for use by many threads. */
final class WaitingEntries {

    /**
     * The part of a row in which equal denials are equal, with an example of the rest.
     *
     * @param handled whether a handler was reached. Otherwise the client has made up the path, and perhaps the method
     */
    record Kind(AuditDecision decision, Sender who, Exchange what, boolean handled, Cause cause) {

        /** The same for any sender and request. There are few of them: one for each decision, rule and limit. */
        Kind withoutSender() {
            return new Kind(decision, Sender.NOBODY, Exchange.NO_EXCHANGE, false, causeOf(null));
        }

        /**
         * Equal denials may tell the client to wait for another time, and have left another count. A client that makes up
         * paths gets one row and not one for each of them.
         */
        Kind key() {
            return new Kind(decision, who, handled ? what : madeUp(), handled, causeOf(cause.subject()));
        }

        private Exchange madeUp() {
            String method = what.method();
            return new Exchange(method != null && METHODS.contains(method) ? method : null, null, what.status());
        }

        /** The cause without its count and its time to wait. */
        private Cause causeOf(@Nullable String subject) {
            return new Cause(
                    cause.rule(),
                    cause.ruleVersion(),
                    cause.limit(),
                    subject,
                    0,
                    cause.capacity(),
                    null,
                    cause.local());
        }
    }

    private static final class Waiting {
        private final Kind kind;
        private long atMicros;
        private long requests;
        private long latencyMicros;

        private Waiting(Kind kind, long atMicros) {
            this.kind = kind;
            this.atMicros = atMicros;
        }

        private void add(long micros) {
            requests++;
            latencyMicros = Math.max(latencyMicros, micros);
        }

        private void add(Waiting other) {
            atMicros = Math.min(atMicros, other.atMicros);
            requests += other.requests;
            latencyMicros = Math.max(latencyMicros, other.latencyMicros);
        }

        private AuditEntry entry(Origin origin) {
            return new AuditEntry(
                    UUID.randomUUID(),
                    Micros.toInstant(atMicros),
                    kind.decision,
                    requests,
                    kind.who,
                    kind.what,
                    kind.cause,
                    Micros.toDuration(latencyMicros),
                    origin);
        }
    }

    private static final Set<String> METHODS =
            Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

    private final Map<Kind, Waiting> denials = new HashMap<>();
    private final List<Waiting> rows = new ArrayList<>();

    /** Adds a row. */
    void add(Kind kind, long atMicros, long latencyMicros) {
        Waiting row = new Waiting(kind, atMicros);
        row.add(latencyMicros);
        rows.add(row);
    }

    /**
     * Adds a denial to the row of its kind, or a row if there is none.
     *
     * @param full whether no row may be added, except one without a sender
     * @return whether the sender is in no row because of that
     */
    boolean merge(Kind kind, boolean full, long atMicros, long latencyMicros) {
        Waiting row = denials.get(kind.key());
        boolean anonymous = row == null && full;
        if (row == null) {
            Kind added = full ? kind.withoutSender() : kind;
            row = denials.computeIfAbsent(added.key(), absent -> {
                Waiting first = new Waiting(added, atMicros);
                rows.add(first);
                return first;
            });
        }
        row.add(latencyMicros);
        return anonymous;
    }

    int size() {
        return rows.size();
    }

    /** Adds the rows of another part; equal denials become one row. */
    void add(WaitingEntries other) {
        for (Waiting row : other.rows) {
            Waiting equal = row.kind.decision.isNoteworthy() ? denials.putIfAbsent(row.kind.key(), row) : null;
            if (equal == null) {
                rows.add(row);
            } else {
                equal.add(row);
            }
        }
    }

    List<AuditEntry> entries(Origin origin) {
        return rows.stream().map(row -> row.entry(origin)).toList();
    }
}
