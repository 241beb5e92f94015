package dev.ratelimit.login;

import dev.ratelimit.Subject;
import java.text.Normalizer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whose counts a login is.
 *
 * @param together address and name; {@code null} if one of them is not known
 * @param address {@code null} outside of web requests
 * @param name {@code null} if the login has none
 */
record LoginSubjects(
        @Nullable Subject together,
        @Nullable Subject address,
        @Nullable Subject name) {

    private static final String NAME = "name";

    /**
     * @param client the text that stands for the client's address, or {@code null}
     * @param name as it was sent
     */
    static LoginSubjects of(@Nullable String client, @Nullable String name) {
        String folded = name == null ? "" : folded(name);
        Subject byAddress = client == null ? null : Subject.ip(client);
        Subject byName = folded.isEmpty() ? null : Subject.of(NAME, folded);
        Subject byBoth = byAddress == null || byName == null ? null : byAddress.and(NAME, folded);
        return new LoginSubjects(byBoth, byAddress, byName);
    }

    /**
     * Spellings that a database or a directory may take for the same name are one: otherwise each would have its own guesses.
     * Two names that really differ only in this share their guesses, which is the safe side.
     */
    private static String folded(String name) {
        return Normalizer.normalize(name, Normalizer.Form.NFKC)
                .toUpperCase(Locale.ROOT)
                .toLowerCase(Locale.ROOT)
                .strip();
    }
}
