package dev.ratelimit.audit.retention;

import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** The rows of an archive and of the database, each once. */
final class MergedRows implements AuditRows {

    private final AuditRows archived;
    private final AuditRows stored;
    private @Nullable AuditRow nextArchived;
    private @Nullable AuditRow nextStored;

    MergedRows(AuditRows stored, AuditRows archived) {
        this.stored = stored;
        this.archived = archived;
        this.nextArchived = next(archived);
        this.nextStored = next(stored);
    }

    private static @Nullable AuditRow next(AuditRows rows) {
        return rows.hasNext() ? rows.next() : null;
    }

    @Override
    public boolean hasNext() {
        return nextArchived != null || nextStored != null;
    }

    @Override
    public AuditRow next() {
        AuditRow old = nextArchived;
        AuditRow current = nextStored;
        if (old == null && current == null) {
            throw new NoSuchElementException();
        }
        int order = old == null ? 1 : current == null ? -1 : AuditRow.BY_KEY.compare(old, current);
        if (order == 0) {
            requireEqual(old, current);
        }
        if (order <= 0) {
            nextArchived = next(archived);
        }
        if (order >= 0) {
            nextStored = next(stored);
        }
        AuditRow first = order <= 0 ? old : current;
        if (first == null) {
            throw new IllegalStateException("one of the two is the first");
        }
        return first;
    }

    /** Rows never change once they are written. */
    static void requireEqual(@Nullable AuditRow archived, @Nullable AuditRow stored) {
        if (stored != null && !stored.equals(archived)) {
            throw new ArchiveException("the row " + stored.key()
                    + " differs between the database and its archive; find out who changed one of them, and delete the wrong"
                    + " one");
        }
    }

    @Override
    public void close() {
        try (archived;
                stored) {
            nextArchived = null;
            nextStored = null;
        }
    }
}
