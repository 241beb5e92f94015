package dev.ratelimit.store.redis;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Rows of one slot that are written together, or not at all: an operation has demands on several of them. Not thread-safe. */
final class Unit {

    /** How far the unit came in this round. */
    enum Result {
        /** It was neither sent nor needs to be: nothing changes, and the server has said so. */
        KNOWN,
        /** All rows were as they were known, and what was decided is written. */
        DONE,
        /** Another process had changed a row, or its slot is on the way to another server: nothing was written. */
        LOST,
        /** The server has refused the command as a whole: nothing was written. */
        REFUSED,
        /** It cannot be decided. The failure says whether it may have been written. */
        FAILED
    }

    private final List<Row> rows = new ArrayList<>(1);
    private Result result = Result.KNOWN;
    private @Nullable SwapFailure failure;
    private @Nullable String move;

    Unit(Row row) {
        rows.add(row);
    }

    List<Row> rows() {
        return rows;
    }

    int slot() {
        return rows.get(0).slot;
    }

    /** The larger one takes over the rows of the other one: all users of an address may end up in one. */
    void join(Unit other) {
        if (other.rows.size() > rows.size()) {
            other.join(this);
        } else if (other != this) {
            for (Row row : other.rows) {
                row.unit = this;
                rows.add(row);
            }
        }
    }

    boolean isChanged() {
        for (Row row : rows) {
            if (row.isChanged()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the decision needs the server: to write, or to learn whether the rows are still as they are known. */
    boolean needsServer() {
        for (Row row : rows) {
            if (row.isChanged() || !row.isConfirmed()) {
                return true;
            }
        }
        return false;
    }

    void end(Result how) {
        this.result = how;
    }

    void fail(SwapFailure cause) {
        this.result = Result.FAILED;
        this.failure = cause;
    }

    /** A server has refused it, since its slot is on the way to another one. */
    void moving(String error) {
        this.result = Result.LOST;
        this.move = error;
    }

    /** The error of a server that its slot has left, in this round. */
    @Nullable
    String move() {
        return move;
    }

    Result result() {
        return result;
    }

    /** Whether the decisions on its rows hold. */
    boolean isDecided() {
        return result == Result.DONE || result == Result.KNOWN;
    }

    @Nullable
    SwapFailure failure() {
        return failure;
    }
}
