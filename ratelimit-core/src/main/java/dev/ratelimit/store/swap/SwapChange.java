package dev.ratelimit.store.swap;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.StateKey;
import java.util.List;

/** Rows that are to be written together or not at all. Two changes are never equal. */
public final class SwapChange {

    /** The kinds of change of the violations of a row. */
    public enum Counted {
        /** They stay as they are. */
        SAME,
        /** They are written. */
        MORE,
        /** They are deleted. */
        NONE
    }

    /**
     * One row.
     *
     * @param before the row as it was read
     * @param state the state to write
     * @param violations the violations to write
     * @param counted whether to write them
     */
    public record Row(StateKey key, SwapRow before, State state, Violations violations, Counted counted) {}

    private final List<Row> rows;
    private final long mark;

    SwapChange(List<Row> rows, long mark) {
        this.rows = List.copyOf(rows);
        this.mark = mark;
    }

    /** At least one. */
    public List<Row> rows() {
        return rows;
    }

    /**
     * A random number that all changes of one write have in common. A row gets the version {@code before XOR mark}: so a
     * version comes only once, also if a row is deleted and comes again, and a repeated write finds another version than
     * it expects.
     */
    public long mark() {
        return mark;
    }

    /** The version that the row gets. */
    public long versionOf(Row row) {
        return row.before().version() ^ mark;
    }

    /** Whether it is one row, whose violations stay as they are. */
    public boolean isPlain() {
        return rows.size() == 1 && rows.get(0).counted() == Counted.SAME;
    }
}
