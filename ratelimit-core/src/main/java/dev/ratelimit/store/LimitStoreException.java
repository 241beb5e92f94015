package dev.ratelimit.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The store could not be reached, or failed. */
public class LimitStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient List<@Nullable Answer> answers;

    /** No operation was decided. */
    public LimitStoreException(String message, Throwable cause) {
        this(message, List.of(), cause);
    }

    /**
     * @param answers in the order of the group, {@code null} where an operation was not decided
     */
    public LimitStoreException(String message, List<@Nullable Answer> answers, Throwable cause) {
        super(message, cause);
        this.answers = Collections.unmodifiableList(new ArrayList<>(answers));
    }

    /**
     * The answers to operations that were decided and stored before the failure, in the order of the group. An element
     * is {@code null} if its operation was not decided; the list is empty if none was.
     */
    public List<@Nullable Answer> answers() {
        return answers;
    }
}
