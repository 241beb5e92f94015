package dev.ratelimit.store.redis;

import dev.ratelimit.store.StateKey;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.PartitionException;
import java.util.concurrent.CancellationException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Why a unit was not decided, and how far that reaches. */
final class SwapFailure extends Exception {

    private static final long serialVersionUID = 1L;

    private enum Kind {
        /** Nothing was written, and the server is well: only some keys cannot be decided. */
        OF_KEYS,
        /** The server failed, but surely wrote nothing. */
        UNDONE,
        /** The server failed, and may have written. */
        UNKNOWN
    }

    /**
     * Errors of a server before it writes anything. A server before 7.0 puts its own words before an error within a script.
     */
    private static final Pattern NOTHING_WRITTEN = Pattern.compile(
            "(?:^|.* -)(?:LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|OOM|NOREPLICAS|MISCONF|BUSY|NOAUTH)\\b.*",
            Pattern.DOTALL);

    private static final Pattern NO_MASTER = Pattern.compile("(?:^|.* -)(?:READONLY|MASTERDOWN)\\b.*", Pattern.DOTALL);

    /** Lettuce says this; it has no type for a command that it did not send. */
    private static final Pattern NOT_SENT = Pattern.compile("(?:Currently not connected|Connection is closed).*");

    private final Kind kind;
    private final transient @Nullable StateKey key;

    private SwapFailure(Kind kind, String message, @Nullable StateKey key, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.kind = kind;
        this.key = key;
    }

    /** Only the keys of the unit could not be decided. */
    static SwapFailure ofKeys(String message) {
        return new SwapFailure(Kind.OF_KEYS, message, null, null);
    }

    /** The value of a key was not written by this store. */
    static SwapFailure ofValue(StateKey key, IllegalArgumentException e) {
        return new SwapFailure(Kind.OF_KEYS, String.valueOf(e.getMessage()), key, e);
    }

    /** The command was not answered, or with an error. */
    static SwapFailure ofCommand(Exception e) {
        return new SwapFailure(isSurelyUndone(e) ? Kind.UNDONE : Kind.UNKNOWN, message(e), null, e);
    }

    /** The command was carried out, but not all that has to follow it. */
    static SwapFailure afterCommand(Exception e) {
        return new SwapFailure(Kind.UNKNOWN, message(e), null, e);
    }

    private static boolean isSurelyUndone(Exception e) {
        if (e instanceof RedisCommandExecutionException) {
            return NOTHING_WRITTEN.matcher(message(e)).matches();
        }
        return e instanceof RedisConnectionException
                || e instanceof PartitionException
                || (e instanceof RedisException && NOT_SENT.matcher(message(e)).matches());
    }

    /** Whether the server says that it is not the master, or no longer. */
    static boolean isOfNoMaster(Exception e) {
        return e instanceof RedisCommandExecutionException
                && NO_MASTER.matcher(message(e)).matches();
    }

    private static String message(Exception e) {
        if (e instanceof CancellationException) {
            return "the connection was lost before the answer";
        }
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    /** Whether only some keys are concerned: the server is well. */
    boolean isOfKeys() {
        return kind == Kind.OF_KEYS;
    }

    boolean mayHaveWritten() {
        return kind == Kind.UNKNOWN;
    }

    /** The key whose value is at fault; {@code null} if there is none. */
    @Nullable
    StateKey key() {
        return key;
    }
}
