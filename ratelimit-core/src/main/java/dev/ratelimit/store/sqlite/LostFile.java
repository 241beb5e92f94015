package dev.ratelimit.store.sqlite;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that the file of an open connection was deleted or replaced. On Unix the connection would go on with the deleted
 * file, apart from all other processes.
 *
 * <ol>
 *   <li>Every 100 milliseconds, a group compares the file at the path with the one that was opened. That is one system call,
 *       so a decision does not notice it.
 *   <li>If it is another one, the connection is closed. Groups fail from here on.
 *   <li>A thread creates the file with its tables, which takes longer than a request may wait.
 *   <li>The next group opens the new file.
 * </ol>
 *
 * Not thread-safe: the lock of the store guards it.
 */
final class LostFile {

    private static final Logger log = LoggerFactory.getLogger(LostFile.class);

    private static final long CHECK_MICROS = 100_000;

    /** How the creation of the new file stands. */
    private enum Creation {
        NONE,
        UNDER_WAY,
        DONE,
        FAILED
    }

    private final SqliteFile file;
    private final AtomicReference<Creation> creation = new AtomicReference<>(Creation.NONE);
    private volatile @Nullable String lastFailure;

    private @Nullable Object opened;
    private boolean lost;
    private long checkedAt;

    LostFile(SqliteFile file) {
        this.file = file;
    }

    /**
     * Whether the file that was opened is no longer the one at the path.
     *
     * @param now the clock of the store, in microseconds
     */
    boolean isLost(long now) {
        if (Math.abs(now - checkedAt) < CHECK_MICROS) { // a clock may be set back
            return false;
        }
        checkedAt = now;
        look();
        return lost;
    }

    private void look() {
        Object present = identity();
        if (lost || opened == null || opened.equals(present)) {
            return;
        }
        lost = true;
        if (present == null) {
            log.error(
                    "The SQLite file {} was deleted while in use. Counts start anew, and only limits, rules, quotas and API"
                            + " keys in the new file apply; on-failure decides until it is ready",
                    file.path());
        } else {
            log.error(
                    "The SQLite file {} was replaced, or deleted and created again, while in use. The counts, limits, rules,"
                            + " quotas and API keys in the new file apply; on-failure decides until it is ready",
                    file.path());
        }
    }

    /** Right before a connection is opened: a file that is replaced at that moment is then noticed, if only too often. */
    void opening() {
        opened = identity();
    }

    /** The last known file, if the system does not say which one it is. */
    private @Nullable Object identity() {
        try {
            return file.identity();
        } catch (IOException e) {
            log.debug("Could not look at {}", file.path(), e);
            return opened;
        }
    }

    /** Fails until the file that replaces a lost one is ready. */
    void requireReady() {
        look();
        if (!lost) {
            return;
        }
        if (creation.compareAndSet(Creation.DONE, Creation.NONE)) {
            lost = false;
            log.info("Keeping rate limits in the new SQLite file {}", file.path());
            return;
        }
        if (creation.compareAndSet(Creation.NONE, Creation.UNDER_WAY)
                || creation.compareAndSet(Creation.FAILED, Creation.UNDER_WAY)) {
            DaemonThreads.named("ratelimit-new-file").newThread(this::create).start();
        }
        throw new LimitStoreException(
                "the SQLite file " + file.path()
                        + " was deleted or replaced while in use; the new one is not ready yet",
                new IllegalStateException(lastFailure == null ? "it is being created" : lastFailure));
    }

    private void create() {
        Creation result = Creation.FAILED;
        try {
            file.createAgain();
            if (file.identity() == null) {
                throw new IllegalStateException("there is no file");
            }
            result = Creation.DONE;
            lastFailure = null;
        } catch (RuntimeException | IOException e) {
            String failure = String.valueOf(e.getMessage());
            if (!failure.equals(lastFailure)) {
                log.warn(
                        "Could not create the SQLite file {} again; trying again: {}",
                        file.path(),
                        LogText.of(failure));
            }
            lastFailure = failure;
        } finally {
            creation.set(result);
        }
    }
}
