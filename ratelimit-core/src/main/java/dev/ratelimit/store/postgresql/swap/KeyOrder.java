package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.store.StateKey;
import java.util.Comparator;

/** The order in which rows are written: that of the collation "C" of PostgreSQL, which {@code PostgresLimitStore} uses. */
final class KeyOrder {

    static final Comparator<StateKey> BY_CODE_POINTS = Comparator.comparing(StateKey::subject, KeyOrder::compare)
            .thenComparing(StateKey::limit, KeyOrder::compare);

    private KeyOrder() {}

    /** The order of UTF-8 is that of code points. That of Java is not: it has surrogates before the last characters. */
    private static int compare(String one, String other) {
        int length = Math.min(one.length(), other.length());
        for (int i = 0; i < length; i++) {
            char left = one.charAt(i);
            char right = other.charAt(i);
            if (left != right) {
                return Character.isSurrogate(left) == Character.isSurrogate(right)
                        ? Character.compare(left, right)
                        : Boolean.compare(Character.isSurrogate(left), Character.isSurrogate(right));
            }
        }
        return Integer.compare(one.length(), other.length());
    }
}
