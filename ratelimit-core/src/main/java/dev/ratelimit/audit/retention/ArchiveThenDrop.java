package dev.ratelimit.audit.retention;

import java.time.YearMonth;

/**
 * Moves a month of the audit trail from the database to the archive.
 *
 * <ol>
 *   <li>Every row of the database is looked for in the archive. If all are there, the month is dropped: see the last step. So a
 *       run that ended before it had dropped the month goes on here.
 *   <li>Otherwise a new archive is written. It holds the rows of the database and those of the old archive, if there is one: rows
 *       that came late are added, and rows that are no longer in the database stay.
 *   <li>Every row of the database is looked for in the new archive.
 *   <li>The month is dropped, but only the rows that were found. Rows that came meanwhile stay for the next run.
 * </ol>
 *
 * Whatever fails, the next run begins with the first step. Memory does not depend on the number of rows.
 */
final class ArchiveThenDrop {

    private static final long MISSING = -1;

    private final RetentionDatabase database;
    private final AuditArchive archive;

    ArchiveThenDrop(RetentionDatabase database, AuditArchive archive) {
        this.database = database;
        this.archive = archive;
    }

    void run(YearMonth month) {
        AuditRows.Source stored = database.auditRows(month);
        long found = findArchived(month, stored);
        if (found == MISSING) {
            archive.write(month, merged(month, stored));
            found = findArchived(month, stored);
        }
        if (found == MISSING || !database.dropArchived(month, found, () -> archive.read(month))) {
            throw new ArchiveException("audit rows of " + month
                    + " were added while it was archived; the next run archives them, too, and then drops the month");
        }
    }

    private AuditRows.Source merged(YearMonth month, AuditRows.Source stored) {
        return archive.has(month) ? () -> new MergedRows(stored.open(), archive.read(month)) : stored;
    }

    /** The number of rows in the database, or {@link #MISSING} if one of them is not in the archive. */
    private long findArchived(YearMonth month, AuditRows.Source source) {
        try (AuditRows stored = source.open()) {
            if (!stored.hasNext()) {
                return 0;
            }
            return archive.has(month) ? findArchived(stored, month) : MISSING;
        }
    }

    private long findArchived(AuditRows stored, YearMonth month) {
        try (AuditRows archived = archive.read(month)) {
            long found = 0;
            while (stored.hasNext()) {
                AuditRow row = stored.next();
                AuditRow candidate = null;
                while (archived.hasNext() && (candidate == null || AuditRow.BY_KEY.compare(candidate, row) < 0)) {
                    candidate = archived.next();
                }
                if (candidate == null || AuditRow.BY_KEY.compare(candidate, row) != 0) {
                    return MISSING;
                }
                MergedRows.requireEqual(candidate, row);
                found++;
            }
            return found;
        }
    }
}
