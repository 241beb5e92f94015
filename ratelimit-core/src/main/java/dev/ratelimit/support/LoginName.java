package dev.ratelimit.support;

import java.text.Normalizer;
import java.util.Locale;

/** The names that failed logins are counted by. */
public final class LoginName {

    /** The type of such subjects, as in {@code name:alice}. */
    public static final String TYPE = "name";

    private LoginName() {}

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
