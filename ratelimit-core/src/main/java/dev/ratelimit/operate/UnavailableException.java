package dev.ratelimit.operate;

import dev.ratelimit.audit.retention.ArchiveException;
import dev.ratelimit.store.LimitStoreException;
import java.util.function.Supplier;

/** An operation needs a part that is switched off or does not answer. The message says which, and the remedy. */
public final class UnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnavailableException(String message) {
        super(message);
    }

    private UnavailableException(RuntimeException cause) {
        super(cause.getMessage(), cause);
    }

    /** Works on files. Where a folder or an archive fails, the message names it and the remedy. */
    static <T> T unlessDone(Supplier<T> work) {
        try {
            return work.get();
        } catch (LimitStoreException | ArchiveException e) {
            throw new UnavailableException(e);
        }
    }
}
