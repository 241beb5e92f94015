package dev.ratelimit.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The store could not be reached, or failed. */
public class LimitStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient List<@Nullable Answer> answers;
    private final transient Set<Integer> parts;

    /** No operation was decided. */
    public LimitStoreException(String message, Throwable cause) {
        this(message, List.of(), cause);
    }

    /**
     * @param answers in the order of the group, {@code null} where an operation was not decided
     */
    public LimitStoreException(String message, List<@Nullable Answer> answers, Throwable cause) {
        this(message, answers, Set.of(), cause);
    }

    /**
     * @param answers in the order of the group, {@code null} where an operation was not decided
     * @param parts the {@linkplain LimitStore#part parts of the store} that failed; empty if that is not known
     */
    public LimitStoreException(String message, List<@Nullable Answer> answers, Set<Integer> parts, Throwable cause) {
        super(message, cause);
        this.answers = Collections.unmodifiableList(new ArrayList<>(answers));
        this.parts = Set.copyOf(parts);
    }

    /**
     * The answers to operations that were decided and stored before the failure, in the order of the group. An element
     * is {@code null} if its operation was not decided; the list is empty if none was.
     */
    public List<@Nullable Answer> answers() {
        return answers;
    }

    /**
     * Whether operations without an answer have surely changed nothing. If not, a refund must not be made again: two refunds of
     * one charge would admit too much.
     */
    public boolean isSurelyUndone() {
        return false;
    }

    /**
     * The {@linkplain LimitStore#part parts of the store} that failed. If it is empty, all parts of the operations without
     * an answer count as failed.
     */
    public Set<Integer> parts() {
        return parts;
    }
}
