package dev.ratelimit.support;

import java.text.Normalizer;
import java.util.Locale;

/** The names that failed logins are counted by. */
public final class LoginName {

    /** The type of such subjects, as in {@code name:alice}. */
    public static final String TYPE = "name";

    private static final String KNOWN_ADDRESS = ":known";

    private LoginName() {}

    /** The name of the mark that a user has logged in from an address. It stands beside a limit and denies nobody. */
    public static String knownAddressMark(String limit) {
        return limit + KNOWN_ADDRESS;
    }

    /** Whether a count under that name is such a mark. */
    public static boolean isKnownAddressMark(String name) {
        return name.endsWith(KNOWN_ADDRESS);
    }

    /**
     * Spellings that a database or a directory may take for the same name are one: otherwise each would have its own guesses.
     * Two names that really differ only in this share their guesses, which is the safe side.
     */
    public static String folded(String name) {
        return Normalizer.normalize(name, Normalizer.Form.NFKC)
                .toUpperCase(Locale.ROOT)
                .toLowerCase(Locale.ROOT)
                .strip();
    }
}
