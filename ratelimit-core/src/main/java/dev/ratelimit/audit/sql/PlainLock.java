package dev.ratelimit.audit.sql;

import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/** Keeps other instances out by a row of {@code rate_limit_locks}, where a database has no advisory locks. */
public final class PlainLock {

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private PlainLock() {}

    /**
     * Runs in a transaction that holds the row of that name, unless another one holds it.
     *
     * @param settings statements for the transaction, once it holds the row
     * @return whether it ran
     */
    public static boolean runAlone(
            TransactionTemplate transactions,
            NamedParameterJdbcTemplate jdbc,
            String table,
            String name,
            String settings,
            Runnable work) {
        AtomicBoolean alone = new AtomicBoolean();
        try {
            transactions.executeWithoutResult(status -> {
                jdbc.getJdbcTemplate().execute("SET LOCAL lock_timeout = 100");
                int unused =
                        jdbc.update("UPDATE " + table + " SET name = name WHERE name = :name", Map.of("name", name));
                alone.set(true);
                jdbc.getJdbcTemplate().execute(settings);
                work.run();
            });
            return true;
        } catch (DataAccessException e) {
            boolean taken = e.getMostSpecificCause() instanceof SQLException cause
                    && LOCK_NOT_AVAILABLE.equals(cause.getSQLState());
            if (taken && !alone.get()) {
                return false;
            }
            throw e;
        }
    }
}
