package dev.ratelimit.audit.retention;

import java.nio.file.Path;
import java.time.YearMonth;
import java.util.List;

/**
 * Keeps the audit trail of months that are no longer in the database. Called by one instance at a time. Failures are {@link
 * ArchiveException}s.
 */
public interface AuditArchive {

    /**
     * An archive.
     *
     * @param rows how many it holds
     * @param files all of them
     */
    record Month(YearMonth month, long rows, List<Path> files) {}

    /** The complete archives, the oldest first. */
    List<Month> months();

    /** Whether there is a complete archive of a month. Finishes one that an earlier run has almost completed. */
    boolean has(YearMonth month);

    /**
     * Reads an archive.
     *
     * @throws ArchiveException if it does not exist, or if it has changed since it was written
     */
    AuditRows read(YearMonth month);

    /**
     * Writes an archive, or replaces it. The archive is complete and on the disk when this returns: it was read again, and every
     * row was equal. If it fails, an archive that was there before is still there.
     */
    void write(YearMonth month, AuditRows.Source rows);

    /** Deletes an archive with everything that belongs to it. */
    void delete(YearMonth month);

    /** Where archives are, for messages. */
    @Override
    String toString();
}
