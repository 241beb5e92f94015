package dev.ratelimit.store.jdbc;

import dev.ratelimit.store.StateKey;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Passes the keys of a group to PostgreSQL: one array of subjects, and one of limits. */
public final class KeyArrays {

    private KeyArrays() {}

    /**
     * Binds both arrays.
     *
     * @param first the number of the first parameter
     * @return the number of the next one
     */
    public static int bind(PreparedStatement statement, int first, Iterable<StateKey> keys) throws SQLException {
        List<String> subjects = new ArrayList<>();
        List<String> limits = new ArrayList<>();
        for (StateKey key : keys) {
            subjects.add(key.subject());
            limits.add(key.limit());
        }
        statement.setObject(first, subjects.toArray(String[]::new));
        statement.setObject(first + 1, limits.toArray(String[]::new));
        return first + 2;
    }
}
