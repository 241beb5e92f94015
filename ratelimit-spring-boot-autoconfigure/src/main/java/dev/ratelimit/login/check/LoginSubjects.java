package dev.ratelimit.login.check;

import dev.ratelimit.Subject;
import dev.ratelimit.support.LoginName;
import org.jspecify.annotations.Nullable;

/**
 * The owners of the counts of a login.
 *
 * @param together address and name; {@code null} if one of them is not known
 * @param address {@code null} outside of web requests
 * @param name {@code null} if the login has none
 */
public record LoginSubjects(
        @Nullable Subject together,
        @Nullable Subject address,
        @Nullable Subject name) {

    /**
     * @param client the text that stands for the client's address, or {@code null}
     * @param name as it was sent
     */
    public static LoginSubjects of(@Nullable String client, @Nullable String name) {
        String folded = name == null ? "" : LoginName.folded(name);
        Subject byAddress = client == null ? null : Subject.ip(client);
        Subject byName = folded.isEmpty() ? null : Subject.of(LoginName.TYPE, folded);
        // The name comes first: an operator who looks up a customer finds it by the name.
        Subject byBoth = client == null || byName == null ? null : byName.and("ip", client);
        return new LoginSubjects(byBoth, byAddress, byName);
    }
}
