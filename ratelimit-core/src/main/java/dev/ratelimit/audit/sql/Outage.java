package dev.ratelimit.audit.sql;

import dev.ratelimit.support.LogText;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;

/**
 * Failures of work in the background while the database is away. They repeat until it is back, and one line says all. Any other
 * failure is logged with its stack trace.
 */
public final class Outage {

    /** More causes than any exception has, unless they go round in a circle. */
    private static final int DEEPEST = 20;

    /** The classes of SQL states for connections that are lost, and for a server that stops or starts. */
    private static final String CONNECTION_EXCEPTION = "08";

    private static final String OPERATOR_INTERVENTION = "57P";

    private Outage() {}

    /** Why the work failed, harmless in a log line: what the driver says, if the database is away. */
    public static String reason(Throwable failure) {
        SQLException lost = lostConnection(failure);
        return LogText.of(lost == null ? failure.getMessage() : lost.getMessage());
    }

    /** The exception to log with its stack trace; {@code null} if the database is away. */
    public static @Nullable Throwable trace(Throwable failure) {
        return lostConnection(failure) == null ? LogText.trace(failure) : null;
    }

    /** The deepest one, since others wrap it. */
    private static @Nullable SQLException lostConnection(Throwable failure) {
        SQLException deepest = null;
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST; depth++) {
            if (cause instanceof SQLException e && isLostConnection(e)) {
                deepest = e;
            }
            cause = cause.getCause();
        }
        return deepest;
    }

    private static boolean isLostConnection(SQLException failure) {
        String state = failure.getSQLState();
        return failure instanceof SQLTransientConnectionException
                || failure instanceof SQLNonTransientConnectionException
                || (state != null
                        && (state.startsWith(CONNECTION_EXCEPTION) || state.startsWith(OPERATOR_INTERVENTION)));
    }
}
