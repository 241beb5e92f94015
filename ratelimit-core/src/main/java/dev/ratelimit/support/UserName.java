package dev.ratelimit.support;

import java.text.Normalizer;

/** The names of users, as requests and accounts compare them. */
public final class UserName {

    private UserName() {}

    /**
     * The name without blanks around it, in Unicode's form NFC. Subjects are written in the same way, so an operator who copies a name
     * from there blocks that user.
     */
    public static String normal(String name) {
        return Normalizer.normalize(name.strip(), Normalizer.Form.NFC);
    }
}
