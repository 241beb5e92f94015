package dev.ratelimit.data;

import dev.ratelimit.data.table.ChangeRow;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the change feed from the last entry that was seen. If that entry is gone, or the file is another one, changes
 * may have been missed. Not thread-safe.
 */
final class ChangeFeed {

    /** After more changes everything is read: a statement cannot hold any number of names. */
    private static final int MOST_READ_BY_NAME = 1_000;

    private final PolicyDatabase database;
    private @Nullable ChangeRow last;
    private @Nullable Object readFrom;

    ChangeFeed(PolicyDatabase database) {
        this.database = database;
    }

    /** The newest entry, or {@code null} if there is none. Everything is about to be read from this database. */
    @Nullable
    ChangeRow newest() {
        readFrom = database.identity();
        return database.changes().findNewest().orElse(null);
    }

    /** Notes that all changes up to this one were read. */
    void seen(@Nullable ChangeRow change) {
        last = change;
    }

    /** The changes since the last one that was seen; {@code null} if they are too many, or if some may be missing. */
    @Nullable
    List<ChangeRow> next() {
        if (!Objects.equals(readFrom, database.identity())) {
            return null; // two files without any change look the same
        }
        ChangeRow from = last;
        List<ChangeRow> changes = database.changes().findFrom(from == null ? 0 : from.revision());
        if (!isComplete(from, changes) || changes.size() > MOST_READ_BY_NAME) {
            return null;
        }
        return from == null ? changes : changes.subList(1, changes.size());
    }

    private static boolean isComplete(@Nullable ChangeRow from, List<ChangeRow> changes) {
        if (from == null) {
            return changes.isEmpty() || changes.get(0).revision() == ChangeRow.FIRST_REVISION;
        }
        return !changes.isEmpty() && changes.get(0).equals(from);
    }
}
