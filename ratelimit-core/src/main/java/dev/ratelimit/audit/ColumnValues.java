package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.support.Micros;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The values of rows, in the order in which both databases write them. Moments are whole microseconds. */
final class ColumnValues {

    private static final HexFormat HEX = HexFormat.of();

    private ColumnValues() {}

    /**
     * A text of a request, as a column can hold it: cut, and control characters and lone surrogates written as {@code \\u0000}.
     * PostgreSQL refuses some of them, and with them all rows of the same statement.
     */
    static @Nullable String text(@Nullable String text, int most) {
        if (text == null) {
            return null;
        }
        int plain = 0;
        while (plain < text.length() && text.charAt(plain) >= ' ' && text.charAt(plain) < '\u007f') {
            plain++;
        }
        return cut(plain == text.length() ? text : escaped(text, most), most);
    }

    private static String escaped(String text, int most) {
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < text.length() && escaped.length() < most; ) {
            int point = text.codePointAt(i);
            int type = Character.getType(point);
            if (type == Character.CONTROL || type == Character.SURROGATE) {
                escaped.append("\\u").append(HEX.toHexDigits((char) point));
            } else {
                escaped.appendCodePoint(point);
            }
            i += Character.charCount(point);
        }
        return escaped.toString();
    }

    /** Never between the halves of a character. */
    private static String cut(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
    }

    static @Nullable Object[] of(AuditEntry entry) {
        AuditEntry.Cause cause = entry.cause();
        return new @Nullable Object[] {
            Micros.of(entry.at()),
            entry.id().toString(),
            entry.who().user(),
            entry.who().apiKey(),
            entry.who().address(),
            entry.what().endpoint(),
            entry.what().method(),
            entry.what().status() == 0 ? null : entry.what().status(),
            entry.decision().keyword(),
            entry.requests(),
            cause.rule(),
            cause.ruleVersion(),
            cause.limit(),
            cause.subject(),
            cause.limit() == null ? null : cause.count(),
            cause.limit() == null ? null : cause.capacity(),
            cause.retryAfter() == null ? null : cause.retryAfter().toSeconds(),
            cause.local(),
            Micros.of(entry.latency()),
            entry.origin().server(),
            entry.origin().region()
        };
    }

    static @Nullable Object[] of(TotalsRow row) {
        Reports.Totals totals = row.tally().totals();
        return new @Nullable Object[] {
            row.periodMicros(),
            row.granularity().keyword(),
            row.key().limit(),
            row.key().subject(),
            row.key().endpoint(),
            row.region(),
            row.instance(),
            totals.total(),
            totals.allowed(),
            totals.throttled(),
            totals.blocked(),
            totals.exempt(),
            totals.failed(),
            row.tally().cacheHits(),
            row.tally().cacheMisses(),
            row.tally().lastMicros(),
            row.latency() == null ? null : row.latency().stored()
        };
    }
}
