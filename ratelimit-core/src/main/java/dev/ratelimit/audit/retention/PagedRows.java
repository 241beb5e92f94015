package dev.ratelimit.audit.retention;

import dev.ratelimit.support.Micros;
import java.time.YearMonth;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** The audit rows of a month. Each page begins after the last row of the page before. */
final class PagedRows implements AuditRows {

    private static final int ROWS_OF_A_PAGE = 2_000;

    /** The first condition lets both databases find the page by their keys, and PostgreSQL the partition. */
    private static final String PAGE = """
            SELECT t.*, %s AS logged_micros FROM %s t
            WHERE logged_at >= %s AND logged_at < %s AND (logged_at, log_id) > (%3$s, :id)
            ORDER BY logged_at, log_id LIMIT :most
            """;

    private static final String GREATEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

    private final RetentionDatabase database;
    private final String sql;
    private final long untilMicros;
    private final Deque<AuditRow> page = new ArrayDeque<>();

    private long lastMicros;
    private String lastId = GREATEST_ID;
    private boolean ended;

    PagedRows(RetentionDatabase database, YearMonth month) {
        this.database = database;
        this.sql = PAGE.formatted(
                        database.micros("logged_at"),
                        database.table(RetainedRows.AUDIT.table()),
                        database.moment(":at"),
                        database.moment(":until"))
                .replace(":id", database.id(":id"));
        this.lastMicros = RetentionDatabase.startMicros(month) - 1;
        this.untilMicros = RetentionDatabase.startMicros(month.plusMonths(1));
    }

    @Override
    public boolean hasNext() {
        if (page.isEmpty() && !ended) {
            read();
        }
        return !page.isEmpty();
    }

    @Override
    public AuditRow next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return page.removeFirst();
    }

    private void read() {
        database.jdbc()
                .query(
                        sql,
                        Map.of("at", lastMicros, "id", lastId, "until", untilMicros, "most", ROWS_OF_A_PAGE),
                        row -> {
                            page.addLast(RetentionDatabase.auditRow(row));
                        });
        ended = page.size() < ROWS_OF_A_PAGE;
        @Nullable AuditRow last = page.peekLast();
        if (last != null) {
            lastMicros = Micros.of(last.loggedAt());
            lastId = last.logId().toString();
        }
    }
}
